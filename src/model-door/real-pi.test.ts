/** Real pi calls models of every API through the model door: with the key at the provider, and without one in the process. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentFixture, agentFixture, collect, replyOf } from "../testing/agent-fixture.ts";
import { SANDBOX_TO_LOOK_INTO, programPid } from "../testing/confined-pid.ts";
import { MODEL_APIS, startWireProvider, type WireProvider } from "../testing/model-wires.ts";
import { waitFor } from "../testing/wait-for.ts";
import { type ModelCall, PLACEHOLDER_KEY } from "../contracts/model-door.ts";
import type { Config } from "../config/index.ts";
import { secret } from "../kit/secret.ts";

const LIMIT_MS = 60_000;
const KEY = "canary-key-of-the-provider-5f1c9d27";
/** Those that are open in the shell itself; each that is a socket is named. */
const LIST_DESCRIPTORS =
  'for fd in /proc/$$/fd/*; do printf "%s " "${fd##*/}"; done; [ -S /proc/$$/fd/3 ] && echo "socket 3"; true';
let provider: WireProvider;
let fx: AgentFixture;

/** One provider for each API, all of them on the same server. */
function models(wires: WireProvider): Config["models"] {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "m", reasoning: false, input: ["text" as const], contextWindow: 32_000, maxTokens: 4_096, cost };
  const entries = MODEL_APIS.map((api) => [
    api,
    { api: api as never, baseUrl: wires.baseUrl("p", api), apiKey: secret(KEY), models: [model] },
  ]);
  return { keys: {}, providers: Object.fromEntries(entries) };
}

beforeAll(async () => {
  provider = await startWireProvider(({ body, hasToolResult }) => {
    if (body.includes("run a command") && !hasToolResult)
      return { kind: "tool", name: "bash", input: { command: LIST_DESCRIPTORS } };
    if (body.includes("repeat my key")) return { kind: "status", status: 400, message: `wrong key ${KEY}` };
    if (body.includes("take your time")) return { kind: "text", pieces: ["one ", new Promise(() => undefined)] };
    return { kind: "text", pieces: ["hello ", "from the model"], usage: { input: 600, cached: 400, output: 7 } };
  });
  fx = await agentFixture({ sandbox: SANDBOX_TO_LOOK_INTO, pool: { min: 0, max: 4 } }, models(provider));
});
afterAll(async () => {
  await fx?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

/** Those that have ended, the newest first. */
function modelCalls(): ModelCall[] {
  return fx.happened.flatMap(({ event, data }) => (event === "model.call" ? [data as ModelCall] : [])).reverse();
}

test.each([...MODEL_APIS])(
  "%s is called with the key, which is not in the environment or the files of the process",
  async (api) => {
    await using lease = await fx.lease({ model: `${api}/m`, sessionFile: `${api}.jsonl` });
    const events = await collect(lease, "hello");
    expect(replyOf(events)).toBe("hello from the model");
    expect(provider.requests.findLast((request) => request.api === api)?.key).toBe(KEY);
    const [call] = modelCalls();
    expect(call).toMatchObject({ model: `${api}/m`, outcome: "answered", status: 200 });
    const last = events.at(-1);
    expect(last?.type === "done" && call?.usage).toEqual(last?.type === "done" && last.usage); // as pi itself counts
    expect(last).toMatchObject({ usage: { inputTokens: 1_000, cachedTokens: 400, outputTokens: 7 } });
    expect(keyIn(readFileSync(`/proc/${programPid(lease.pid)}/environ`))).toBe(false);
    expect(filesBelow(fx.home).filter((path) => keyIn(readFileSync(path)))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "the memory of a process that has called a model holds the placeholder and not the key",
  async () => {
    await using lease = await fx.lease({ model: "anthropic-messages/m", sessionFile: "scanned-chat.jsonl" });
    expect(replyOf(await collect(lease, "hello"))).toBe("hello from the model");
    expect(memoryHolds(programPid(lease.pid), PLACEHOLDER_KEY)).toBe(true); // the scan finds what is there
    expect(memoryHolds(programPid(lease.pid), KEY)).toBe(false);
  },
  LIMIT_MS,
);

test(
  "an error in which the provider repeats the key reaches the process without it",
  async () => {
    await using lease = await fx.lease({ model: "openai-completions/m", sessionFile: "repeated-key.jsonl" });
    const events = await collect(lease, "repeat my key");
    expect(events.at(-1)).toMatchObject({ type: "failed", detail: expect.stringContaining("wrong key [redacted]") });
    expect(memoryHolds(programPid(lease.pid), KEY)).toBe(false);
  },
  LIMIT_MS,
);

test(
  "a turn that is stopped ends the provider's answer at once",
  async () => {
    const stop = new AbortController();
    await using lease = await fx.lease({ model: "anthropic-messages/m", sessionFile: "stopped-turn.jsonl" });
    for await (const event of lease.prompt({ text: "take your time", images: [] }, stop.signal))
      if (event.type === "text") stop.abort(new Error("stopped"));
    await waitFor("the provider to notice", () => provider.hungUp.length === 1);
  },
  LIMIT_MS,
);

test(
  "a call in the middle of a turn that the budget does not allow ends the turn with its sentence, and is not made",
  async () => {
    const refusal = { code: "budget_spent", detail: "9 of 9", say: "The daily budget is used up." } as const;
    let spent = 0;
    const budget = { refusal: () => (spent > 0 ? refusal : null), spent: () => void spent++ };
    const model = "anthropic-messages/m";
    await using poor = await agentFixture({ tools: "full", model, budget }, models(provider));
    const before = provider.requests.length;
    const events = await poor.turn("run a command");
    expect(events.filter(({ type }) => type === "tool_end").length).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: "failed", ...refusal, usage: { outputTokens: 5 } });
    expect(provider.requests.length).toBe(before + 1);
  },
  LIMIT_MS,
);

/** A pi folder of the owner's, with a provider that the gateway does not know. */
const theirFolder = (key: string) => async (home: { readonly path: string }) => {
  const agentDir = join(home.path, "their-pi");
  const entry = { ...models(provider).providers["openai-completions"], apiKey: key };
  await mkdir(agentDir);
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { theirs: entry } }));
  return { agentDir };
};

test(
  "a turn of an agent that holds its login itself calls with the key in its pi folder, ends after the call that passes the budget, with its sentence, and makes no other",
  async () => {
    const refusal = { code: "budget_spent", detail: "9 of 9", say: "The daily budget is used up." } as const;
    let spent = 0;
    const budget = { refusal: () => (spent > 0 ? refusal : null), spent: () => void spent++ };
    const settings = { tools: "full", model: "theirs/m", budget } as const;
    await using poor = await agentFixture(
      settings,
      { keys: {}, providers: {} },
      theirFolder("key-in-their-own-folder"),
    );
    const before = provider.requests.length;
    expect((await poor.turn("run a command")).at(-1)).toMatchObject({ type: "failed", ...refusal });
    expect(provider.requests.length).toBe(before + 1);
    spent = 0;
    expect(replyOf(await poor.turn("hello"))).toBe("hello from the model"); // its last answer stands
    expect(provider.requests.at(-1)?.key).toBe("key-in-their-own-folder"); // the process calls by itself
    expect(poor.happened.some(({ event }) => event === "model.call")).toBe(false);
  },
  LIMIT_MS,
);

test(
  "an agent without the bridge calls its model through the door all the same",
  async () => {
    await using bare = await agentFixture({ bridge: "off", model: "openai-responses/m" }, models(provider));
    expect(replyOf(await bare.turn("hello"))).toBe("hello from the model");
    expect(provider.requests.at(-1)?.key).toBe(KEY);
  },
  LIMIT_MS,
);

test(
  "a command of the agent's shell does not get the connection",
  async () => {
    const model = "openai-completions/m";
    await using shell = await agentFixture({ tools: "full", model }, models(provider));
    await using lease = await shell.lease();
    const events = await collect(lease, "run a command");
    const [listed] = events.flatMap((event) => (event.type === "tool_end" ? [event.output] : []));
    expect(listed).toContain("0 1 2 ");
    expect(listed).not.toContain("socket 3");
  },
  LIMIT_MS,
);

function keyIn(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(KEY);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Whether the text is anywhere in the memory of a process, as bytes or as UTF-16. */
function memoryHolds(pid: number, text: string): boolean {
  const needles = [Buffer.from(text, "utf8"), Buffer.from(text, "utf16le")];
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const pages = openSync(`/proc/${pid}/pagemap`, "r");
  const piece = Buffer.alloc(4 * 1024 * 1024);
  try {
    const smaps = readFileSync(`/proc/${pid}/smaps`, "utf8");
    for (const [, range = "", held] of smaps.matchAll(/^([0-9a-f]+-[0-9a-f]+) rw[^]*?^Rss: +(\d+) kB$/gm)) {
      const [from = 0, to = 0] = range.split("-").map((hex) => Number.parseInt(hex, 16));
      if (held === "0") continue; // reserved, and never written to
      for (const run of writtenPages(pages, from, to)) {
        for (let at = run.from; at < run.to; at += piece.length - 256) {
          const count = readAt(memory, piece.subarray(0, Math.min(piece.length, run.to - at)), at);
          if (count <= 0) break;
          if (needles.some((needle) => piece.subarray(0, count).includes(needle))) return true;
        }
      }
    }
    return false;
  } finally {
    closeSync(memory);
    closeSync(pages);
  }
}

const PAGE_BYTES = 4_096;
/** Of one page in /proc/PID/pagemap. The two highest bits of the last byte say that it is in memory, or in the swap. */
const ENTRY_BYTES = 8;
const IS_SOMEWHERE = 0xc0;

/** Much of what a process has reserved was never written to, and reading all of it takes seconds. */
function* writtenPages(pagemap: number, from: number, to: number): Generator<{ from: number; to: number }> {
  const count = (to - from) / PAGE_BYTES;
  const entries = Buffer.alloc(count * ENTRY_BYTES, IS_SOMEWHERE); // of which nothing can be known is read
  readAt(pagemap, entries, (from / PAGE_BYTES) * ENTRY_BYTES);
  let begun: number | null = null;
  for (let page = 0; page <= count; page++) {
    const last = entries[page * ENTRY_BYTES + ENTRY_BYTES - 1] ?? 0;
    const written = page < count && (last & IS_SOMEWHERE) !== 0;
    if (written && begun === null) begun = page;
    if (written || begun === null) continue;
    yield { from: from + begun * PAGE_BYTES, to: from + page * PAGE_BYTES };
    begun = null;
  }
}

function readAt(file: number, into: Buffer, at: number): number {
  try {
    return readSync(file, into, 0, into.length, at);
  } catch {
    return 0; // such as a mapping of a device
  }
}
