/** The small parts that platforms share: files of messages, tools that run, a memory of a limited size, and work that closing waits for. */
import { describe, expect, test } from "bun:test";
import type { InboundFiles } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";
import { accountState } from "./account-state.ts";
import { keepFiles } from "./keep-files.ts";
import { remember } from "./remember.ts";
import { noteTool, noTools, speakingTool } from "./running-tools.ts";
import { createLanes } from "./lanes.ts";
import { createTasks } from "./tasks.ts";

describe("tools of a turn", () => {
  const note = (shown: ReturnType<typeof noTools>, callId: string, progress?: string) =>
    noteTool(shown, { callId, tool: "bash", status: "running", ...(progress === undefined ? {} : { progress }) });

  test("are shown up to two hundred calls; those that are shown still change", () => {
    const shown = noTools();
    for (let call = 1; call <= 201; call++) note(shown, `call ${call}`);
    note(shown, "call 200", "half of it is done");
    expect([shown.calls.size, speakingTool(shown)?.progress]).toEqual([200, "half of it is done"]);
  });

  test.each([
    [80, 80, "x"],
    [81, 80, "…"],
  ])("say a line of %d characters in %d", (said, chars, last) => {
    const shown = noTools();
    note(shown, "call", "x".repeat(said));
    const progress = speakingTool(shown)?.progress ?? "";
    expect([progress.length, progress.at(-1)]).toEqual([chars, last]);
  });
});

describe("files of a message", () => {
  const file = (name: string, bytes = 1) => ({
    name,
    mimeType: "audio/ogg",
    bytes,
    spoken: true,
    open: async () => new Blob([]).stream(),
  });
  type Heard = Awaited<ReturnType<InboundFiles["transcribe"]>>;

  async function kept(heard: Heard, ...given: readonly ReturnType<typeof file>[]) {
    const signals: AbortSignal[] = [];
    const files = {
      async keep({ name }: { name: string }, signal: AbortSignal) {
        signals.push(signal);
        return name === "bad" ? { kind: "refused", note: "bad was not taken" } : { kind: "kept", media: { name } };
      },
      transcribe: async (_media: unknown, signal: AbortSignal) => (signals.push(signal), heard),
    } as unknown as InboundFiles;
    const { signal } = new AbortController();
    const all = await keepFiles({ files, mediaMaxMb: 1 }, "parlour:user:1" as Principal, given, signal);
    expect(signals.every((one) => one === signal)).toBe(true);
    return { ...all, names: all.media.map(({ name }) => name), fetched: signals.length };
  }

  test("are kept in order; those that are missing are told to the agent and to the sender", async () => {
    const all = await kept({ kind: "off" }, file("bad"), file("huge", 2_000_000), file("good"));
    const huge = "The file huge is larger than 1 MB and was not fetched.";
    expect(all.names).toEqual(["good"]);
    expect(all.words).toEqual(["[bad was not taken]", `[${huge}]`, "[Voice message]"]);
    expect(all.tell).toEqual(["bad was not taken", huge]);
    expect(all.fetched).toBe(3); // two were asked for, one was listened to
  });

  test.each([
    [{ kind: "words", text: "hello" }, ["hello"], []],
    [{ kind: "failed", say: "It could not be heard." }, ["[Voice message]"], ["It could not be heard."]],
    [{ kind: "off" }, ["[Voice message]"], []],
  ] as const)("that are spoken, and heard as %j, say %j", async (heard, words, tell) => {
    const all = await kept(heard, file("voice.ogg"));
    expect([all.words, all.tell]).toEqual([[...words], [...tell]]);
  });
});

describe("a memory of a limited size", () => {
  test.each([
    ["keeps all there is room for", ["a", "b"], ["a", "b"]],
    ["forgets the oldest when there are too many", ["a", "b", "c", "d"], ["b", "c", "d"]],
    ["counts what is put in again as the newest", ["a", "b", "c", "a", "d"], ["c", "a", "d"]],
  ])("%s", (_rule, put, kept) => {
    const known = new Map<string, number>();
    for (const [at, key] of put.entries()) remember(known, key, at, 3);
    expect([...known.keys()]).toEqual(kept);
  });

  test("holds the newest value of a key", () => {
    const known = new Map([["a", 1]]);
    remember(known, "a", 2, 3);
    expect(known.get("a")).toBe(2);
  });
});

describe("work beside the flow", () => {
  test("is waited for at the end, with what it has begun meanwhile", async () => {
    const ended: string[] = [];
    const tasks = createTasks(() => undefined);
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const inner = async (): Promise<void> => {
      await second.promise;
      ended.push("second");
    };
    const outer = async (): Promise<void> => {
      await first.promise;
      void tasks.add(inner());
      ended.push("first");
    };
    const begun = tasks.add(outer());
    const all = tasks.settled().then(() => ended.push("all"));
    first.resolve();
    await begun;
    for (let turn = 0; turn < 10; turn++) await Promise.resolve(); // whoever waited for the first alone would have gone on by now
    second.resolve();
    await all;
    expect(ended).toEqual(["first", "second", "all"]);
  });

  test("that fails is told, and neither ends the rest nor whoever waits for it", async () => {
    const told: unknown[] = [];
    const tasks = createTasks((error) => told.push(error));
    const trouble = new Error("disk full");
    await tasks.add(Promise.reject(trouble));
    await tasks.settled();
    expect(told).toEqual([trouble]);
  });
});

test("a lane that was never full is not told that it has caught up, and one that was is told once", async () => {
  const caughtUp: string[] = [];
  const lanes = createLanes({
    maxWaiting: 2,
    onCaughtUp: (chat) => {
      caughtUp.push(chat);
      if (caughtUp.length > 10) throw new Error("it is told for ever");
      lanes.add(chat, async () => undefined); // fetches what was left out
    },
    onFailed: () => undefined,
  });
  const work = async (): Promise<void> => undefined;
  expect([lanes.add("quiet", work), lanes.add("quiet", work)]).toEqual([true, true]);
  expect([lanes.add("busy", work), lanes.add("busy", work), lanes.add("busy", work)]).toEqual([true, true, false]);
  await lanes.settled();
  expect(caughtUp).toEqual(["busy"]);
});

test("an account keeps what it has to know under its own channel and its own name, in each way", async () => {
  const calls: unknown[] = [];
  const way =
    (name: string) =>
    async (...given: readonly unknown[]) =>
      void calls.push([name, ...given]);
  const facts = { get: way("get"), put: way("put"), forget: way("forget"), list: way("list") } as never;
  const account = accountState(facts, "telegram", "work");
  await account.get("k");
  await account.put("k", "v");
  await account.forget("k");
  await account.list("p");
  expect(calls).toEqual([
    ["get", "telegram", "work", "k"],
    ["put", "telegram", "work", "k", "v"],
    ["forget", "telegram", "work", "k"],
    ["list", "telegram", "work", "p"],
  ]);
});
