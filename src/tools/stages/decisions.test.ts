/** Decisions on the way of a tool call that need no gate, as tables: names, conversions, what plugins say, rates, slots, results, secrets. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { Principal, SessionKey } from "../../contracts/ids.ts";
import { NO_TURN, type ToolOutcome } from "../../contracts/tools/tool.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { scrubJson } from "../audit/scrub-json.ts";
import { originOf, originsOf } from "../origin.ts";
import { maskOutcome, maskUpdates } from "../run/mask-outcome.ts";
import { checkResult, finishedText, textOf, withText } from "../run/output.ts";
import { createProgress } from "../run/progress.ts";
import { createSlots } from "../run/slots.ts";
import { harmfulConversion } from "./conversions.ts";
import { knownName, knownParams, otherToolNames } from "./names.ts";
import { canonical, paramsHash } from "./params-hash.ts";
import { createRateLimits } from "./rate.ts";
import type { Draft, StageDeps } from "./stage.ts";
import { askHooks, checksKept, persisted } from "./tool-hooks.ts";
import { NO_MASK } from "../../kit/secret.ts";

const NEVER = new AbortController().signal;

describe("the name of a tool", () => {
  test.each([
    ["send_message", ["send_message"], "send_message"],
    ["sendMessage", ["send_message"], "send_message"],
    ["SendMessage", ["send_message"], "send_message"],
    ["web_search", ["web-search"], "web-search"],
    ["Bash", ["bash"], "bash"],
    ["Read", ["read"], "read"],
    ["Write", ["write"], "write"],
    ["Edit", ["edit"], "edit"],
    ["Grep", ["grep"], "grep"],
    ["Glob", ["find"], "find"],
    ["LS", ["ls"], "ls"],
    ["Bash", ["Bash", "bash"], "Bash"],
    ["unknownTool", ["send_message"], "unknownTool"],
    ["constructor", ["x"], "constructor"],
  ])("as %s is found (%#)", (name, known, found) => {
    expect(knownName(name, (one) => known.includes(one))).toBe(found);
  });

  test("is found under its other spellings, and each of them is told", () => {
    expect(otherToolNames("web-search_now")).toEqual(["web-searchNow", "web_search_now"]);
    expect(otherToolNames("find")).toEqual(["Glob"]);
    expect(otherToolNames("plain")).toEqual([]);
  });

  const schema = { properties: { path: {}, oldText: {}, newText: {}, max_chars: {} } };
  test.each([
    [{ file_path: "a" }, { path: "a" }],
    [{ filePath: "a" }, { path: "a" }],
    [
      { old_string: "a", new_string: "b" },
      { oldText: "a", newText: "b" },
    ],
    [
      { oldString: "a", newString: "b" },
      { oldText: "a", newText: "b" },
    ],
    [
      { maxChars: 1, old_text: "x" },
      { max_chars: 1, oldText: "x" },
    ],
    [
      { path: "a", other: 1 },
      { path: "a", other: 1 },
    ],
    [{ file_path: "a", path: "b" }, null],
    [{ file_path: "a", filePath: "b" }, null],
  ])("does not matter for its parameters (%#)", (params, known) => {
    const named = knownParams(params, schema);
    expect(named.ok ? named.params : null).toEqual(known);
  });

  test("and its parameters stay as they are without a schema, and what is no object stays", () => {
    expect(knownParams({ file_path: "a" }, null)).toEqual({ ok: true, params: { file_path: "a" } });
    expect(knownParams("x", schema)).toEqual({ ok: true, params: "x" });
    expect(knownParams({ file_path: "a" }, {})).toEqual({ ok: true, params: { file_path: "a" } });
  });
});

describe("a conversion of an agent", () => {
  test.each<[asked: unknown, used: unknown, words: string | null]>([
    [{ a: null }, { a: "" }, "a: must not be null"],
    [{ a: null }, { a: null }, null],
    [{ a: null }, {}, null],
    [{ a: true }, { a: 1 }, "a: "],
    [{ a: true }, { a: true }, null],
    [{ a: "1" }, { a: 1 }, null],
    [{ a: [1, { b: null }] }, { a: [1, { b: "" }] }, "a[1].b: must not be null"],
    [null, "", "parameters: must not be null"],
    [false, 0, "parameters: "],
    [{ a: {} }, { a: null }, null],
    ["x", { a: 1 }, null],
  ])("%# is judged as it should be", (asked, used, words) => {
    const found = harmfulConversion(asked, used);
    if (words === null) expect(found).toBeNull();
    else expect(found).toStartWith(words);
  });

  test("is looked for thirty-two levels deep", () => {
    const nested = (value: unknown, levels: number): unknown =>
      levels === 0 ? value : { a: nested(value, levels - 1) };
    expect(harmfulConversion(nested(null, 31), nested("", 31))).toContain("must not be null");
    expect(harmfulConversion(nested(null, 32), nested("", 32))).toBeNull();
  });
});

describe("an answer of a plugin", () => {
  const draft = {
    request: { callId: "c", context: {} },
    tool: { name: "send" },
    params: { to: "a" },
  } as unknown as Draft;
  const ask = async (...answers: readonly unknown[]) => {
    const log = recordingLog();
    const seen: unknown[] = [];
    const handlers = answers.map((said, at) => ({
      plugin: `p${at}`,
      handler: ({ params }: { readonly params: unknown }) => (seen.push(params), said),
    }));
    const hooks = { deciding: () => handlers };
    const deps = { clock: createFakeClock(), log, mask: NO_MASK, hooks } as unknown as StageDeps;
    const verdict = (await askHooks(deps, draft, NEVER)) as unknown as Record<string, unknown>;
    return { verdict, seen };
  };
  const could = "send was not run: p0 could not check it.";
  test.each<[said: unknown, message: string | null]>([
    [undefined, null],
    [null, null],
    [{}, null],
    [{ block: false }, null],
    [{ block: true }, "p0 does not allow it."],
    [{ block: "" }, "p0 does not allow it."],
    [{ block: "no" }, "no"],
    [{ block: "x".repeat(501) }, "x".repeat(500)],
    [{ block: null }, "p0 does not allow it."],
    [{ blok: true }, could],
    ["no", could],
    [{ params: () => 1 }, could],
  ])("%# is read strictly", async (said, message) => {
    const { verdict } = await ask(said);
    expect(verdict["message"] ?? null).toBe(message);
    expect(verdict["kind"]).toBe(message === null ? undefined : "refused");
  });

  test.each([
    [{ requireApproval: true }, "p0 wants it"],
    [{ requireApproval: "please" }, "p0 wants it"],
    [{ requireApproval: false }, undefined],
    [{}, undefined],
  ])("%# asks an owner only when it wants that", async (said, because) => {
    expect((await ask(said)).verdict["askBecause"]).toBe(because);
  });

  test("is done all together, and the next one sees the parameters as they are then, as a copy", async () => {
    const own = { to: "b" };
    const { verdict, seen } = await ask({ params: own, requireApproval: true }, undefined, { params: undefined });
    expect(seen).toEqual([{ to: "a" }, { to: "b" }, { to: "b" }]);
    expect(seen[1] === own).toBe(false);
    expect([verdict["params"], verdict["askBecause"]]).toEqual([undefined, "p0 wants it"]);
    expect((await ask({ block: "no" }, undefined)).seen.length).toBe(1);
  });

  test("about what is kept is asked of each plugin with the text that the one before left", async () => {
    const seen: string[] = [];
    const handlers = ["b", "c"].map((output) => ({
      plugin: output,
      handler: (event: { readonly output: string }) => (seen.push(event.output), { output }),
    }));
    const deps = { clock: createFakeClock(), log: recordingLog(), hooks: { deciding: () => handlers } as never };
    const outcome = { kind: "ok", result: { content: [{ type: "text", text: "a" }] } } as const;
    expect(finishedText(await persisted(deps, draft, outcome, NEVER))).toBe("c");
    expect(seen).toEqual(["a", "b"]);
  });

  test("about what is kept may be another text, and whoever cannot be read hides it", async () => {
    const keep = (outcome: ToolOutcome, ...answers: readonly unknown[]) => {
      const handlers = answers.map((said, at) => ({ plugin: `p${at}`, handler: () => said }));
      const hooks = { deciding: () => handlers } as unknown as StageDeps["hooks"];
      return persisted({ clock: createFakeClock(), log: recordingLog(), hooks }, draft, outcome as never, NEVER);
    };
    const ok = { kind: "ok", result: { content: [{ type: "text", text: "a" }] } } as const;
    const failed = { kind: "failed", code: "tool_failed", message: "a" } as const;
    const other = { kind: "failed", code: "timeout", message: "a" } as unknown as ToolOutcome;
    const text = async (outcome: ToolOutcome, ...answers: readonly unknown[]) =>
      finishedText(await keep(outcome, ...answers));
    expect(await text(ok, { output: "b" })).toBe("b");
    expect(await text(failed, { output: "b" })).toBe("b");
    expect(await text(other, { output: "b" })).toBe("a");
    expect(await text(ok, undefined, { output: "" })).toBe("");
    expect(await text(ok, { outptu: "b" })).toBe("[withheld: p0 could not check this result]");
    expect(await keep(ok, {})).toBe(ok);
    expect(checksKept({ hooks: { deciding: () => [] } as never })).toBe(false);
    expect(checksKept({ hooks: { deciding: () => [1] } as never })).toBe(true);
    expect(checksKept({ hooks: { deciding: () => Promise.resolve([]) } as never })).toBe(true);
  });
});

describe("a limit of calls", () => {
  const who = { principal: "p" as Principal, tool: "send" };
  test("holds for any stretch of time, and says to the millisecond when the next call may come", async () => {
    const clock = createFakeClock();
    const rates = createRateLimits({ clock, store: { timesSince: async () => [] } });
    const take = (limit = { calls: 2, perMs: 1_000 }) => rates.take(who, limit as never);
    expect(await take()).toEqual({ kind: "ok" });
    await clock.advance(400);
    expect(await take()).toEqual({ kind: "ok" });
    expect(await take()).toEqual({ kind: "wait", retryAfterMs: 600 });
    await clock.advance(599);
    expect(await take()).toEqual({ kind: "wait", retryAfterMs: 1 });
    await clock.advance(1);
    expect(await take()).toEqual({ kind: "ok" });
    expect(await take()).toEqual({ kind: "wait", retryAfterMs: 400 });
    expect(await rates.take({ ...who, tool: "other" }, { calls: 1, perMs: 1_000 } as never)).toEqual({ kind: "ok" });
    expect(await rates.take({ ...who, principal: "q" as Principal }, { calls: 1, perMs: 9 } as never)).toEqual({
      kind: "ok",
    });
  });

  test("that was lowered says when enough of the calls from before are old, not when the first of them is", async () => {
    const clock = createFakeClock();
    const rates = createRateLimits({ clock, store: { timesSince: async () => [] } });
    for (let call = 0; call < 3; call++) {
      await rates.take(who, { calls: 3, perMs: 1_000 } as never);
      await clock.advance(100);
    }
    const lowered = () => rates.take(who, { calls: 1, perMs: 1_000 } as never);
    expect(await lowered()).toEqual({ kind: "wait", retryAfterMs: 900 });
    await clock.advance(900);
    expect(await lowered()).toEqual({ kind: "ok" });
  });

  test("that is durable counts calls of before, also when the clock was set back, and looks for them once", async () => {
    const clock = createFakeClock();
    const looked: number[] = [];
    const timesSince = async (_who: unknown, since: number) => (
      looked.push(since),
      [clock.now() - 300, clock.now() + 5_000]
    );
    const rates = createRateLimits({ clock, store: { timesSince } });
    const take = (durable: boolean, tool = "send") =>
      rates.take({ ...who, tool }, { calls: 2, perMs: 1_000, durable } as never);
    expect(await take(true)).toEqual({ kind: "wait", retryAfterMs: 700 });
    expect(await take(true)).toEqual({ kind: "wait", retryAfterMs: 700 });
    expect(await take(false, "other")).toEqual({ kind: "ok" });
    expect(looked).toEqual([clock.now() - 1_000]);
    await clock.advance(1_000); // a call of a moment that is still to come counts no longer than one of now
    expect([await take(true), await take(true)]).toEqual([{ kind: "ok" }, { kind: "ok" }]);
  });
});

describe("a slot", () => {
  const A = "a" as SessionKey;
  const slots = (maxPerSession = 3, maxTotal = 10) =>
    createSlots(createFakeClock(), () => ({ maxPerSession, maxTotal }));
  const taken = async (from: ReturnType<typeof slots>, sequential = false, session = A) => {
    const slot = await from.take(session, { sequential }, NEVER);
    if (!slot) throw new Error("there is a free slot");
    return slot;
  };
  const isFree = async (from: ReturnType<typeof slots>, sequential: boolean): Promise<boolean> => {
    const gone = new AbortController();
    const asked = from.take(A, { sequential }, gone.signal).then(
      (slot) => (slot?.[Symbol.dispose](), true),
      () => false,
    );
    queueMicrotask(() => queueMicrotask(() => gone.abort(new Error("not free"))));
    return asked;
  };

  test("of a sequential call is the only one of its kind until it is given back, whatever else ends before", async () => {
    const all = slots();
    const [ordered, plain] = [await taken(all, true), await taken(all)];
    expect([await isFree(all, true), await isFree(all, false)]).toEqual([false, true]);
    plain[Symbol.dispose]();
    expect(await isFree(all, true)).toBe(false);
    const other = await taken(all);
    ordered[Symbol.dispose]();
    expect(await isFree(all, true)).toBe(true);
    other[Symbol.dispose]();
    expect(all.running()).toBe(0);
  });

  test.each([
    [1, 10, [true, false]],
    [2, 10, [true, true]],
    [10, 1, [true, false]],
  ])("is there up to %d of a conversation and %d in all", async (maxPerSession, maxTotal, free) => {
    const all = slots(maxPerSession, maxTotal);
    const found: boolean[] = [];
    for (let n = 0; n < 2; n++) {
      found.push(await isFree(all, false));
      if (found[n]) await taken(all);
    }
    expect(found).toEqual(free);
  });
});

describe("a result", () => {
  const text = (words: string) => ({ type: "text" as const, text: words });
  const image = { type: "image" as const, data: "AA", mimeType: "image/png" };
  const limits = { maxOutputChars: 10, maxImages: 1 };
  const check = (value: unknown) =>
    checkResult(value, { images: async (one) => one, checkOutput: null, mask: NO_MASK }, limits);
  test.each([
    [null, "it did not answer with content"],
    [{ content: "x" }, "it did not answer with content"],
    [{ content: [] }, "it answered with empty content. A result has at least one text or image"],
    [{ content: Array.from({ length: 1_001 }, () => text("x")) }, "it answered with more than 1000 pieces"],
    [{ content: [{ type: "text" }] }, "a piece of its answer is neither text nor an image"],
    [{ content: [{ type: "image", data: "AA" }] }, "a piece of its answer is neither text nor an image"],
    [{ content: [null] }, "a piece of its answer is neither text nor an image"],
  ])("%# of a wrong form is refused with a reason", async (value, because) => {
    expect(await check(value)).toEqual({ ok: false, because });
  });

  test("is cut where it is too long, never inside a character, over all its texts", async () => {
    const content = async (...blocks: readonly object[]) => {
      const checked = await check({ content: blocks });
      return checked.ok ? checked.result.content : checked.because;
    };
    expect(await content(text("0123456789"))).toEqual([text("0123456789")]);
    expect(await content(text("0123456789a"))).toEqual([text("0123456789\n[cut: 1 more characters]")]);
    expect(await content(text("012345678😀"))).toEqual([text("012345678\n[cut: 2 more characters]")]);
    expect(await content(text("01234567"), text("89a"), text("b"))).toEqual([
      text("01234567"),
      text("89\n[cut: 1 more characters]"),
      text("\n[cut: 1 more characters]"),
    ]);
    const [first, second] = (await content(image, { ...image, note: "x" })) as readonly object[];
    expect([first, Object.keys(second ?? {})]).toEqual([image, ["type", "text"]]);
    expect((await check({ content: Array.from({ length: 1_000 }, () => text("")) })).ok).toBe(true);
  });

  test("keeps details that are JSON and not too large", async () => {
    const details = async (value: unknown) => {
      const checked = await check({ content: [text("x")], details: value });
      return checked.ok ? checked.result.details : null;
    };
    expect(await details({ a: 1, f: () => 1 })).toEqual({ a: 1 });
    const most = 64 * 1024 - 2;
    expect(await details("x".repeat(most))).toBe("x".repeat(most));
    expect(await details("x".repeat(most + 1))).toEqual({ leftOut: `${most + 3} characters of details` });
    expect(await details(1n)).toEqual({ leftOut: "details that are not JSON" });
    expect(await check({ content: [text("x")] })).toEqual({ ok: true, result: { content: [text("x")] } });
  });

  test("as text has notes for its images, and another text keeps only them", () => {
    const result = { content: [text("a"), image, text("b")], details: { a: "a" } };
    expect(textOf(result)).toBe("a\n[image image/png]\nb");
    expect(withText(result, "c")).toEqual({ content: [text("c"), image] });
  });

  test("is masked for whoever is no model, and an error for everybody", () => {
    const mask = { text: (words: string) => words.replaceAll("hunter2", "***") } as never;
    const ok: ToolOutcome = { kind: "ok", result: { content: [text("hunter2"), image], details: { a: "hunter2" } } };
    const clean = { kind: "ok", result: { content: [text("***"), image], details: { a: "***" } } };
    const failed = { kind: "failed", code: "tool_failed", message: "hunter2", kept: "hunter2" } as ToolOutcome;
    const masked = (outcome: ToolOutcome, path: string): unknown => maskOutcome(outcome, path as never, mask);
    expect([masked(ok, "pipe"), masked(ok, "pi"), masked(ok, "http")]).toEqual([ok, ok, clean]);
    const hidden = { kind: "failed", code: "tool_failed", message: "***" };
    expect([masked(failed, "pipe"), masked(failed, "http")]).toEqual([{ ...hidden, kept: "***" }, hidden]);
    const told: unknown[] = [];
    const onUpdate = (partial: unknown) => void told.push(partial);
    maskUpdates({ path: "http" as never, onUpdate }, mask)?.(ok.result);
    expect([told, maskUpdates({ path: "pi" as never, onUpdate }, mask) === onUpdate]).toEqual([[clean.result], true]);
    expect(maskUpdates({ path: "http" as never }, mask)).toBeUndefined();
  });

  test("in the making is told at once, then the newest of each while, and not after the end", async () => {
    const clock = createFakeClock();
    const told: string[] = [];
    const progress = createProgress(clock, (partial) => told.push(textOf(partial)));
    const report = (words: string) => progress.report({ content: [text(words)] });
    for (const words of ["a", "b", "c"]) report(words);
    expect(told).toEqual(["a"]);
    await clock.advance(99);
    expect(told).toEqual(["a"]);
    await clock.advance(1);
    expect(told).toEqual(["a", "c"]);
    await clock.advance(100);
    report("d");
    expect(told).toEqual(["a", "c", "d"]);
    report("e");
    progress[Symbol.dispose]();
    report("f");
    await clock.advance(1_000);
    expect([told, clock.pending()]).toEqual([["a", "c", "d"], 0]);
  });
});

test("a digest stands for the same parameters in any order, and for no others", () => {
  const hash = (params: unknown, tool = "t") => paramsHash(tool, params);
  expect(hash({ a: 1, b: [1, 2], c: undefined })).toBe(hash({ b: [1, 2], a: 1 }));
  const different = [
    { a: 1 },
    { a: "1" },
    { a: [1] },
    { b: 1 },
    [{ a: 1 }],
    null,
    { a: null },
    { a: [1, 2] },
    { a: [2, 1] },
  ];
  expect(new Set([...different.map((one) => hash(one)), hash({ a: 1 }, "u")]).size).toBe(different.length + 1);
  expect([canonical(undefined), canonical({ z: 1, a: { y: 2, b: 3 } })]).toEqual(["null", '{"a":{"b":3,"y":2},"z":1}']);
});

test.each([
  ["token", true],
  ["bot_token", true],
  ["X-Api-Key", true],
  ["apikey", true],
  ["secret", true],
  ["password", true],
  ["passwd", true],
  ["passphrase", true],
  ["access_key", true],
  ["private-key", true],
  ["Authorization", true],
  ["cookie", true],
  ["botToken", true],
  ["clientSecret", true],
  ["dbPassword", true],
  ["someApiKey", true],
  ["awsAccessKey", true],
  ["sshPrivateKey", true],
  ["sessionCookie", true],
  ["tokens", false],
  ["maxTokens", false],
  ["secretary", false],
  ["name", false],
])("a value under the name %s is hidden in the record: %p", (name, hidden) => {
  const scrub = (value: string) => value.replaceAll("hunter2", "***");
  const clean = (value: unknown) => scrubJson({ [name]: value }, scrub) as Record<string, unknown>;
  expect([clean("a hunter2")[name], clean(5)[name]]).toEqual(hidden ? ["[redacted]", "[redacted]"] : ["a ***", 5]);
  expect(clean({ hunter2: ["hunter2", null, true] })[name]).toEqual({ "***": ["***", null, true] });
});

describe("the origin of a call", () => {
  const caller = (more: object): Caller =>
    ({
      turnId: "t",
      origin: { channel: "telegram" },
      sessionKey: "agent:a:telegram:dm:1",
      ...more,
    }) as unknown as Caller;
  test.each([
    [{}, "chat"],
    [{ cause: "cron" }, "cron"],
    [{ cause: "chat" }, "chat"],
    [{ cause: "reaction" }, "chat"],
    [{ origin: { channel: "cron" } }, "cron"],
    [{ origin: { channel: "hook" } }, "webhook"],
    [{ origin: { channel: "heartbeat" } }, "heartbeat"],
    [{ origin: { channel: "delegate" } }, "delegate"],
    [{ origin: { channel: "mcp" } }, "mcp"],
    [{ turnId: NO_TURN }, "api"],
    [{ sessionKey: "agent:a:cron:job" }, "cron"],
    [{ sessionKey: "agent:a:hook:x" }, "webhook"],
    [{ sessionKey: "agent:a:heartbeat" }, "heartbeat"],
    [{ sessionKey: "agent:a:telegram:group:1" }, "group"],
    [{ sessionKey: "agent:a:telegram:work:group:1" }, "group"],
    [{ sessionKey: "agent:a:telegram:group:1:topic:2" }, "group"],
    [{ sessionKey: "agent:a:telegram:work:dm:1" }, "chat"],
    [{ sessionKey: "agent:a:telegram:group:dm:1" }, "chat"],
    [{ sessionKey: "agent:a:constructor:dm:1" }, "chat"],
  ])("%# is read from what the gateway decided", (more, origin) => {
    const found: string = originOf(caller(more));
    expect(found).toBe(origin);
  });

  test("is also that of every turn that led to it, each once", () => {
    const asked = caller({
      askedBy: caller({ cause: "cron", askedBy: caller({ sessionKey: "agent:a:telegram:group:1" }) }),
    });
    expect(originsOf(asked)).toEqual(["chat", "cron", "group"]);
    expect(originsOf(caller({ askedBy: caller({}) }))).toEqual(["chat"]);
  });
});

test("a list and an object of the same entries are different parameters", () => {
  expect(paramsHash("t", ["a"])).not.toBe(paramsHash("t", { 0: "a" }));
  expect(paramsHash("t", { x: [] })).not.toBe(paramsHash("t", { x: {} }));
});

test("an object that the agent made nothing of is no harmful conversion", () => {
  expect(harmfulConversion({ a: 1 }, null)).toBeNull();
  expect(harmfulConversion([1], 1)).toBeNull();
});
