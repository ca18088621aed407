/** The way to Discord's REST API: one library client that never retries or waits by itself, because the outbox decides about both. */
import { API } from "@discordjs/core";
import { REST } from "@discordjs/rest";
import { FileGone } from "../../../contracts/channels/platform.ts";
import { isTemporaryStatus } from "../../../kit/outside/temporary-status.ts";
import { DEFAULT_API_ROOT, type DiscordSettings } from "../settings.ts";

export interface RestClient extends Disposable {
  readonly api: API;
  /** After the library forgot a token that was refused: whether it is right now, the next call shows. */
  renew(): void;
  /** A file of a message. Only from where Discord keeps them. */
  download(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

const REQUEST_MS = 20_000;
const FILE_HOSTS: readonly string[] = ["cdn.discordapp.com", "media.discordapp.net"];
const NO_CONTENT = new Uint8Array();

export function openRest({
  token,
  apiRoot = DEFAULT_API_ROOT,
}: Pick<DiscordSettings, "token" | "apiRoot">): RestClient {
  const rest = new REST({
    version: "10",
    api: apiRoot,
    retries: 0,
    timeout: REQUEST_MS,
    rejectOnRateLimit: () => true,
  });
  rest.setToken(token.reveal());
  const request = rest.request.bind(rest);
  rest.request = (options) => request({ ...options, body: pingingNobody(options.body) });
  return {
    api: new API(rest),
    renew: () => void rest.setToken(token.reveal()),
    async download(url, signal) {
      if (!mayDownload(url, apiRoot)) throw new FileGone("the file is not kept by Discord");
      const answer = await rest.options.makeRequest(url, { method: "GET", signal, redirect: "error" });
      const detail = `the file was not given out (status ${answer.status})`;
      if (!answer.ok) throw isTemporaryStatus(answer.status) ? new Error(detail) : new FileGone(detail);
      return (answer.body as ReadableStream<Uint8Array> | null) ?? new Blob([NO_CONTENT]).stream();
    },
    [Symbol.dispose]() {
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
    },
  };
}

/** An API root of one's own, such as a proxy, may hold the files too. */
export function mayDownload(url: string, apiRoot: string): boolean {
  const parsed = URL.parse(url);
  if (!parsed) return false;
  if (parsed.protocol === "https:" && FILE_HOSTS.includes(parsed.host)) return true;
  return apiRoot !== DEFAULT_API_ROOT && parsed.origin === URL.parse(apiRoot)?.origin;
}

/** Nobody is pinged by what a model writes: set here for everything that goes out, so that no caller can forget it. */
function pingingNobody(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const { data } = body as { readonly data?: unknown };
  const whole = data === undefined ? body : { ...body, data: pingingNobody(data) };
  return "content" in body ? { ...whole, allowed_mentions: { parse: [] } } : whole;
}
