/**
 * Calls to the Bot API, each on a connection of its own: one that stood idle may be dead without anybody knowing, and a send on it would end
 * in doubt; after a conflict Telegram keeps refusing on the same one. Errors leave here as values of faults.ts, without what was said.
 */
import type { RawApi } from "grammy";
import { FileGone } from "../../../contracts/channels/platform.ts";
import type { Clock } from "../../../kit/clock.ts";
import { isTemporaryStatus } from "../../../kit/outside/temporary-status.ts";
import type { Secret } from "../../../kit/secret.ts";
import { Fault, faultOf, isRefused, NotTelegram } from "./faults.ts";

export type Method = Exclude<keyof RawApi, "getMe">;
type Payload<M extends Method> = NonNullable<Parameters<RawApi[M]>[0]>;
type Answer<M extends keyof RawApi> = Awaited<ReturnType<RawApi[M]>>;
export type Upload = import("grammy").InputFile;

export interface BotApi {
  /** Rejects with a Fault. */
  call<M extends Method>(method: M, payload: Payload<M>, signal: AbortSignal): Promise<Answer<M>>;
  me(signal: AbortSignal): Promise<Answer<"getMe">>;
  /** The same as `call`, with time for a large file or a long wait. */
  slowCall<M extends Method>(method: M, payload: Payload<M>, signal: AbortSignal, ms: number): Promise<Answer<M>>;
  upload(bytes: Uint8Array, name: string): Upload;
  download(fileId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

interface BotApiOptions {
  readonly token: Secret;
  readonly apiRoot: string;
}

const CALL_MS = 30_000;
const DOWNLOAD_START_MS = 30_000;
/** The library's own limit lies above all of ours. */
const LIBRARY_SECONDS = 600;
const MAX_NAME_CHARS = 100;
/** About formatting alone: a mark in the wrong place, a kind Telegram does not know, too many of them. */
const BAD_ENTITIES = /can't parse.*entit|ENTIT(Y|IES)_/i;

const FORMATTING: readonly string[] = ["entities", "caption_entities", "parse_mode"];

type Raw = (payload: object, signal: AbortSignal) => Promise<unknown>;

/** Loads the library. Calls nobody. */
export async function openBotApi(deps: { readonly clock: Clock }, options: BotApiOptions): Promise<BotApi> {
  const { Api, InputFile } = await import("grammy");
  const apiRoot = options.apiRoot.replace(/\/+$/, "");
  const token = options.token.reveal();
  const client = new Api(token, { apiRoot, timeoutSeconds: LIBRARY_SECONDS, fetch: onOwnConnection as never });
  const raw = client.raw as unknown as Readonly<Record<string, Raw>>;

  const run = async (method: string, payload: object | null, signal: AbortSignal, ms: number): Promise<unknown> => {
    using limit = deps.clock.deadline(
      ms,
      () => new Fault({ kind: "lost", detail: `no answer within ${ms / 1_000} s` }),
    );
    const until = AbortSignal.any([signal, limit.signal]);
    if (until.aborted) throw new Fault({ kind: "unreached", detail: "given up before it was called" });
    const call = raw[method] as Raw & ((signal: AbortSignal) => Promise<unknown>);
    try {
      return await (payload ? call(payload, until) : call(until));
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : faultOf(error);
    }
  };
  /** Words that Telegram does not take with their formatting are said without it: nothing was sent, and nothing is lost but the looks. */
  const slowCall = <M extends Method>(method: M, payload: Payload<M>, signal: AbortSignal, ms: number) => {
    const answer = run(method, payload, signal, ms).catch((error: unknown) => {
      const plain = isRefused(error, BAD_ENTITIES) ? withoutFormatting(payload) : null;
      if (!plain) throw error;
      return run(method, plain, signal, ms);
    });
    return answer as Promise<Answer<M>>;
  };

  return {
    call: (method, payload, signal) => slowCall(method, payload, signal, CALL_MS),
    slowCall,
    me: async (signal) => (await run("getMe", null, signal, CALL_MS)) as Answer<"getMe">,
    upload: (bytes, name) => new InputFile(bytes, fileName(name)),
    async download(fileId, signal) {
      const { file_path: path } = await slowCall("getFile", { file_id: fileId }, signal, CALL_MS).catch(goneIfRefused);
      if (path === undefined) throw new FileGone("Telegram has no path for the file");
      using limit = deps.clock.deadline(DOWNLOAD_START_MS, () => new Fault({ kind: "unreached", detail: "no answer" }));
      const until = AbortSignal.any([signal, limit.signal]);
      const url = `${apiRoot}/file/bot${token}/${path.split("/").map(encodeURIComponent).join("/")}`;
      const response = await fetch(url, { signal: until, keepalive: false, redirect: "error" }).catch(
        (error: unknown) => {
          throw faultOf(error);
        },
      );
      if (!response.ok && !isTemporaryStatus(response.status))
        throw new FileGone(`the file was not given out (status ${response.status})`);
      if (!response.ok || !response.body)
        throw new Fault({ kind: "down", detail: `the file was not given out (status ${response.status})` });
      return withPlainErrors(response.body);
    },
  };
}

/** Too large, or forgotten by Telegram: the same question has the same answer. */
function goneIfRefused(error: unknown): never {
  throw error instanceof Fault && error.info.kind === "refused" ? new FileGone(error.message) : error;
}

/** Null: it has none. An album has that of its caption in the list of its pictures. */
function withoutFormatting(payload: object): object | null {
  let found = false;
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value; // files stay as they are
    const kept = Object.entries(value).filter(([key]) => !FORMATTING.includes(key));
    found ||= kept.length < Object.keys(value).length;
    return Object.fromEntries(kept.map(([key, one]) => [key, plain(one)]));
  };
  const result = plain(payload) as object; // as it came, without some of its keys
  return found ? result : null;
}

/** What the network says about a broken download names the address, and with it the token. */
function withPlainErrors(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const next = await reader.read().catch((error: unknown) => {
        throw faultOf(error);
      });
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

interface LibraryRequest extends RequestInit {
  readonly agent?: unknown;
  readonly compress?: unknown;
}

async function onOwnConnection(url: string, { agent: _agent, compress: _compress, ...init }: LibraryRequest) {
  const response = await fetch(url, { ...init, keepalive: false, redirect: "error" });
  if (response.headers.get("content-type")?.includes("json")) return response;
  await response.body?.cancel();
  throw new NotTelegram(response.status);
}

/** As a header can carry it. */
function fileName(name: string): string {
  const plain = name.toWellFormed().replaceAll(/[^\p{L}\p{N}._ -]/gu, "_");
  return plain.slice(-MAX_NAME_CHARS) || "file";
}
