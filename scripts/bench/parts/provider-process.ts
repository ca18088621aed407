/** An instant model provider in a process of its own, so that serving it does not slow down the side that is being measured. */
import { deferred } from "../../../src/kit/deferred.ts";
import { wordsOf } from "../../../src/testing/worlds/model-words.ts";
import { parseArgs } from "node:util";
import { type FakeScript, type ProviderRequest, says, startFakeProvider } from "../../../src/testing/fake-provider.ts";

export interface ProviderProcess extends AsyncDisposable {
  readonly baseUrl: string;
  /** Of the last request. */
  lastShown(): Promise<ShownToModel>;
}

/** What a model is shown besides the conversation. */
export interface ShownToModel {
  readonly instructions: string;
  /** By name, in their order. */
  readonly tools: readonly string[];
}

export interface ProviderManner {
  /** Says what it was asked, instead of "ok". */
  readonly echo?: boolean;
  /** Thinks for this long before its first word. */
  readonly thinkMs?: number;
  /** Calls this tool as often, one call after the other, before it answers. */
  readonly calls?: { readonly tool: string; readonly times: number };
  /** Never answers. */
  readonly hang?: boolean;
  /** Says so much, in pieces of a kilobyte. */
  readonly longBytes?: number;
}

export async function startProviderProcess(manner: ProviderManner = {}): Promise<ProviderProcess> {
  let answer = deferred<ShownToModel>();
  const child = Bun.spawn([process.execPath, "--no-env-file", import.meta.path, JSON.stringify(manner)], {
    ipc: (shown: ShownToModel) => answer.resolve(shown),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return {
    baseUrl: new TextDecoder().decode(value).trim(),
    lastShown() {
      answer = deferred();
      child.send("last shown");
      return answer.promise;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

export function scriptOf({
  echo = false,
  thinkMs = 0,
  hang = false,
  calls,
  longBytes = 0,
}: ProviderManner): FakeScript {
  return ({ messages }) => {
    if (longBytes > 0) return says(...Array.from({ length: Math.ceil(longBytes / 1_000) }, () => "x".repeat(1_000)));
    if (hang) return { kind: "hang" };
    if (calls && callsSince(messages) < calls.times)
      return { kind: "tools", calls: [{ name: calls.tool, input: { text: "hi" } }] };
    const text = echo ? lastWords(messages) : "ok";
    return thinkMs > 0 ? says(Bun.sleep(thinkMs), text) : says(text);
  };
}

function shownIn(request: ProviderRequest | undefined): ShownToModel {
  const instructions = request?.messages.find(({ role }) => role === "system" || role === "developer");
  return { instructions: wordsOf(instructions?.content), tools: request?.tools ?? [] };
}

/** Results of tools since somebody said something. */
function callsSince(messages: readonly { readonly role: string }[]): number {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(asked).filter(({ role }) => role === "tool").length;
}

function lastWords(messages: readonly { readonly role: string; readonly content: unknown }[]): string {
  return wordsOf(messages.findLast(({ role }) => role === "user")?.content);
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const provider = await startFakeProvider(scriptOf(JSON.parse(positionals[0] ?? "{}") as ProviderManner));
  console.log(provider.baseUrl);
  process.on("message", () => process.send?.(shownIn(provider.requests.at(-1))));
}
