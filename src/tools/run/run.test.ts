/** How a tool runs: told to stop at once, ended by its deadline, one after the other where it must be, and checked before anyone sees what it says. */
import { describe, expect, test } from "bun:test";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Tool, ToolOutcome, ToolResult } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { MEMBER, OWNER, policy, PROGRAM, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";

const forever = () => new Promise<ToolResult>(() => undefined);
const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === "ok" && outcome.result.content[0]?.type === "text" ? outcome.result.content[0].text : outcome.kind;

describe("a running tool", () => {
  test("ends by its deadline and a quarter of a second even when it ignores its signal", async () => {
    const { clock, call, last } = toolWorld([tool(forever)]);
    const outcome = call({ text: "hi" });
    await clock.advance(1_250);
    const message = "echo did not finish within 1 s.";
    expect(await outcome).toEqual({ kind: "failed", code: "tool_timeout", message });
    expect(last()?.end).toMatchObject({ status: "error", ms: 1_250 });
  });

  test("gets the time to clean up, and ends as soon as it has", async () => {
    const { clock, call } = toolWorld([
      tool((_id, _params, signal) => {
        const { promise, reject } = deferred<ToolResult>();
        signal.addEventListener("abort", () => reject(new Error("cleaned up")));
        return promise;
      }),
    ]);
    const outcome = call({ text: "hi" });
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({ code: "tool_timeout" });
  });

  test("may take two minutes at most, whatever it says itself", async () => {
    const { clock, call } = toolWorld([tool(forever, { timeoutMs: 10_000_000 })]);
    const outcome = call({ text: "hi" });
    await clock.advance(120_250);
    expect(await outcome).toMatchObject({ code: "tool_timeout" });
  });

  test("hears of a cancellation in the same tick, and leaves its place", async () => {
    const asked = new AbortController();
    const started = deferred<AbortSignal>();
    const world = toolWorld([
      tool((_id, { text }: never, until) => {
        started.resolve(until);
        return text === "quick" ? Promise.resolve(says("quick")) : forever();
      }),
    ]);
    world.rules.now = policy({ maxTotal: 1 });
    const outcome = world.call({ text: "hi" }, {}, asked.signal);
    const told = await started.promise;
    asked.abort();
    await Promise.resolve();
    await world.clock.advance(0);
    expect(told.aborted).toBe(true);
    await world.clock.advance(250);
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
    expect(textOf(await world.call({ text: "quick" }))).toBe("quick");
  });

  test("that throws fails with its own words, whether it gave a promise or not", async () => {
    const throwing: Tool["execute"] = () => {
      throw new Error("no such city");
    };
    const { call } = toolWorld([tool(throwing), tool(() => Promise.reject(new Error("later")), { name: "later" })]);
    expect(await call({ text: "hi" })).toEqual({ kind: "failed", code: "tool_failed", message: "no such city" });
    expect(await call({ text: "hi" }, { tool: "later" })).toMatchObject({ message: "later" });
  });

  test.each<[thrown: unknown, message: string]>([
    ["no such city", "no such city"],
    [{ message: "no such city" }, "no such city"],
    [undefined, "The tool failed without saying why."],
    [null, "The tool failed without saying why."],
    [{ status: 404 }, '{"status":404}'],
  ])("that throws %p, which is no error, fails with words all the same", async (thrown, message) => {
    const { call } = toolWorld([tool(() => Promise.reject(thrown))]);
    expect(await call({ text: "hi" })).toEqual({ kind: "failed", code: "tool_failed", message });
  });

  test.each([undefined, null, "text", {}, { content: "text" }, { content: [{ type: "video" }] }, { content: [null] }])(
    "that gives back %p has failed",
    async (value) => {
      const { call, last } = toolWorld([tool(async () => value as never)]);
      expect(await call({ text: "hi" })).toMatchObject({ kind: "failed", code: "tool_failed" });
      expect(last()?.end?.status).toBe("error");
    },
  );

  test.each([
    [undefined, "it did not answer with content"],
    [{ content: "text" }, "it did not answer with content"],
    [{ content: [] }, "it answered with empty content. A result has at least one text or image"],
    [{ content: [null] }, "a piece of its answer is neither text nor an image"],
    [{ content: [{ type: "video", data: "a", mimeType: "b" }] }, "a piece of its answer is neither text nor an image"],
    [{ content: [{ type: "image", data: 7, mimeType: "b" }] }, "a piece of its answer is neither text nor an image"],
  ])("that gives back %p is told what was wrong with it", async (value, because) => {
    const { call } = toolWorld([tool(async () => value as never)]);
    expect(await call({ text: "hi" })).toMatchObject({ message: `echo failed: ${because}.` });
  });

  test("whose answer is too long is cut, and says how much is missing", async () => {
    const { call } = toolWorld([tool(async () => says("x".repeat(300_000)))]);
    expect(textOf(await call({ text: "hi" })).endsWith(`[cut: ${300_000 - 262_144} more characters]`)).toBe(true);
  });

  test("whose answer has several texts is cut where all of them together are too long", async () => {
    const texts = Array.from({ length: 3 }, () => says("x".repeat(131_072)).content[0] ?? null);
    const { call } = toolWorld([tool(async () => ({ content: texts }) as ToolResult)]);
    const outcome = await call({ text: "hi" });
    const content = outcome.kind === "ok" ? outcome.result.content : [];
    const shown = content.map((block) => (block.type === "text" ? block.text.slice(-28) : block.type));
    expect(shown).toEqual(["x".repeat(28), "x".repeat(28), "[cut: 131072 more characters]".slice(-28)]);
  });

  test("that answers with more pieces than anybody reads has failed", async () => {
    const content = Array.from({ length: 1_001 }, () => ({ type: "text", text: "x" }) as const);
    const { call } = toolWorld([tool(async () => ({ content }))]);
    expect(await call({ text: "hi" })).toMatchObject({ code: "tool_failed", message: expect.stringContaining("1000") });
  });

  test.each(["throws", "says isError"])("that %s with a book says its first 4096 characters", async (how) => {
    const book = "x".repeat(10_000);
    const { call } = toolWorld([
      tool(async () => {
        if (how === "throws") throw new Error(book);
        return { ...says(book), isError: true };
      }),
    ]);
    const outcome = await call({ text: "hi" });
    expect(outcome).toMatchObject({ kind: "failed", message: "x".repeat(4_096) });
  });

  test("is never cut in the middle of a character", async () => {
    const { call } = toolWorld([tool(async () => says(`${"x".repeat(262_143)}😀😀`))]);
    expect(textOf(await call({ text: "hi" })).isWellFormed()).toBe(true);
  });

  test("loses details that are too large or not JSON, and keeps its words", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const { call } = toolWorld([tool(async () => ({ ...says("ok"), details: circle }))]);
    const details = { leftOut: "details that are not JSON" };
    expect(await call({ text: "hi" })).toEqual({ kind: "ok", result: { ...says("ok"), details } });
  });
});

describe("progress", () => {
  test("is told at once, then ten times a second, newest first, and never after the end", async () => {
    const seen: string[] = [];
    const end = deferred<ToolResult>();
    const report = deferred<(partial: ToolResult) => void>();
    const world = toolWorld([
      tool((_id, _params, _signal, onUpdate) => {
        report.resolve(onUpdate);
        return end.promise;
      }),
    ]);
    const outcome = world.call(
      { text: "hi" },
      { onUpdate: (partial) => void seen.push(textOf({ kind: "ok", result: partial })) },
    );
    const tell = await report.promise;
    for (const step of [1, 2, 3]) tell(says(`step ${step}`));
    expect(seen).toEqual(["step 1"]);
    await world.clock.advance(100);
    expect(seen).toEqual(["step 1", "step 3"]);
    tell(says("step 4"));
    end.resolve(says("done"));
    await outcome;
    tell(says("too late"));
    await world.clock.advance(1_000);
    expect(seen).toEqual(["step 1", "step 3"]);
  });

  test.each<[reported: unknown, told: string]>([
    [{ content: [null, "x", { text: 5 }, { type: "text", text: "half" }, { type: "image", data: "AA" }] }, "half"],
    [{ content: "words" }, ""],
    [null, ""],
  ])("in the wrong form does not end the tool, and what can be read of %j is told", async (reported, told) => {
    const seen: string[] = [];
    const world = toolWorld([
      tool(async (_id, _params, _signal, report) => {
        report(reported as ToolResult);
        return says("done");
      }),
    ]);
    const onUpdate = (partial: ToolResult) => void seen.push(textOf({ kind: "ok", result: partial }));
    expect(await world.call({ text: "hi" }, { onUpdate })).toEqual({ kind: "ok", result: says("done") });
    expect(seen).toEqual([told]);
  });

  test("goes on at its pace after a silence, and tells each report once", async () => {
    const report = deferred<(partial: ToolResult) => void>();
    const end = deferred<ToolResult>();
    const seen: string[] = [];
    const world = toolWorld([tool((...[, , , tell]) => (report.resolve(tell), end.promise), { timeoutMs: 60_000 })]);
    const onUpdate = (partial: ToolResult) => void seen.push(textOf({ kind: "ok", result: partial }));
    const outcome = world.call({ text: "hi" }, { onUpdate });
    const tell = await report.promise;
    tell(says("1"));
    tell(says("2"));
    await world.clock.advance(5_000);
    tell(says("3"));
    expect(seen).toEqual(["1", "2", "3"]);
    end.resolve(says("done"));
    await outcome;
  });

  test("that is not in the right form hurts nobody", async () => {
    const { call } = toolWorld([
      tool(async (_id, _params, _signal, onUpdate) => {
        for (const wrong of [undefined, null, {}, { content: [null, 7, { text: 1 }] }]) onUpdate(wrong as never);
        return says("done");
      }),
    ]);
    expect(textOf(await call({ text: "hi" }, { onUpdate: () => undefined }))).toBe("done");
  });

  test("and beginning and end are events", async () => {
    const world = toolWorld([tool(async (_id, _params, _signal, onUpdate) => (onUpdate(says("abc")), says("done")))]);
    const heard: unknown[] = [];
    for (const name of ["tool_execution_start", "tool_execution_update", "tool_execution_end"] as const)
      world.events.on(name, (event) => void heard.push([name, event]));
    await world.call({ text: "hi" }, { callId: "c" });
    const of = { sessionKey: OWNER.sessionKey, turnId: OWNER.turnId, callId: "c", tool: "echo" };
    expect(heard).toEqual([
      ["tool_execution_start", { ...of, params: { text: "hi" } }],
      ["tool_execution_update", { ...of, chars: 3 }],
      [
        "tool_execution_end",
        {
          ...of,
          status: "success",
          ms: 0,
          background: false,
          params: { text: "hi" },
          result: says("done"),
          error: null,
        },
      ],
    ]);
  });
});

describe("tools at the same time", () => {
  /** Counts how many run at once, and lets each go when told. */
  function counting(over: Partial<Tool> = {}) {
    const running = { now: 0, most: 0, gates: [] as (() => void)[] };
    const made = tool(async () => {
      running.most = Math.max(running.most, ++running.now);
      await new Promise<void>((resolve) => running.gates.push(resolve));
      running.now--;
      return says("done");
    }, over);
    return { running, made };
  }

  async function letAllGo(world: ReturnType<typeof toolWorld>, running: { gates: (() => void)[] }, count: number) {
    for (let gone = 0; gone < count; gone++) {
      await world.clock.advance(1);
      running.gates.shift()?.();
    }
  }

  test("run in parallel, except sequential ones of one conversation", async () => {
    for (const [flags, most] of [
      [{ idempotent: true }, 3],
      [{ idempotent: true, sequential: true }, 1],
    ] as const) {
      const { running, made } = counting({ flags });
      const world = toolWorld([made]);
      const calls = [1, 2, 3].map(() => world.call({ text: "x" }));
      await letAllGo(world, running, 3);
      await Promise.all(calls);
      expect(running.most).toBe(most);
    }
  });

  test("of another conversation do not wait for a sequential one", async () => {
    const { running, made } = counting({ flags: { idempotent: true, sequential: true } });
    const world = toolWorld([made]);
    const other = { ...OWNER, sessionKey: "agent:default:webchat:dm:2" as SessionKey };
    const calls = [OWNER, other].map((context) => world.call({ text: "x" }, { context }));
    await letAllGo(world, running, 2);
    await Promise.all(calls);
    expect(running.most).toBe(2);
  });

  test("keep to the places of their conversation and of the gateway, and wait for a free one", async () => {
    const { running, made } = counting({ flags: { idempotent: true } });
    const world = toolWorld([made]);
    world.rules.now = policy({ maxPerSession: 2, maxTotal: 3 });
    const other = { ...OWNER, sessionKey: "agent:default:webchat:dm:2" as SessionKey };
    const calls = [OWNER, OWNER, OWNER, OWNER, other, other].map((context) => world.call({ text: "x" }, { context }));
    await world.clock.advance(1);
    expect(running.now).toBe(3); // two of the first, one of the other
    await letAllGo(world, running, 6);
    expect((await Promise.all(calls)).every(({ kind }) => kind === "ok")).toBe(true);
    expect(running.most).toBe(3);
  });

  test("leave their place when they are cancelled while they wait for one, and never run", async () => {
    const { running, made } = counting({ flags: { idempotent: true } });
    const world = toolWorld([made]);
    world.rules.now = policy({ maxTotal: 1 });
    const first = world.call({ text: "x" });
    const asked = new AbortController();
    const second = world.call({ text: "x" }, {}, asked.signal);
    await world.clock.advance(1);
    asked.abort();
    expect(await second).toMatchObject({ kind: "failed", code: "cancelled" });
    expect(world.last()?.end?.status).toBe("error");
    await letAllGo(world, running, 1);
    await first;
    expect(running.most).toBe(1);
  });
});

test("a result that says isError is an error with the words of the tool, as MCP servers report theirs", async () => {
  const world = toolWorld([tool(async () => ({ ...says("There is no such city."), isError: true }))]);
  expect(await world.call({ text: "x" })).toEqual({
    kind: "failed",
    code: "tool_failed",
    message: "There is no such city.",
  });
  expect(world.last()?.end).toMatchObject({ status: "error", output: "There is no such city." });
});

describe("a background tool", () => {
  const slow = (end: Promise<ToolResult>) =>
    tool(
      async (_id, _params, _signal, onUpdate) => {
        onUpdate(says("begun"));
        return end;
      },
      { flags: { idempotent: false, background: true }, timeoutMs: 3_600_000 },
    );

  test("answers with its first words and goes on; its end is told later and is on record", async () => {
    const end = deferred<ToolResult>();
    const world = toolWorld([slow(end.promise)]);
    expect(await world.call({ text: "x" }, { callId: "c" })).toEqual({
      kind: "pending",
      code: "background",
      message: "begun",
    });
    expect([world.last()?.end, world.ended]).toEqual([null, []]);
    end.resolve(says("all done"));
    await world.clock.advance(1);
    expect(world.last()?.end).toMatchObject({ status: "success", output: "all done" });
    expect(world.ended).toMatchObject([
      { tool: "echo", outcome: { kind: "ok", result: says("all done") }, caller: OWNER },
    ]);
  });

  test("does not stop when its turn ends, but does when the gateway stops", async () => {
    const end = deferred<ToolResult>();
    const world = toolWorld([slow(end.promise)]);
    const turn = new AbortController();
    await world.call({ text: "x" }, {}, turn.signal);
    turn.abort();
    const repeat = world.call({ text: "x" }, { callId: "c1" }, turn.signal); // a caller that repeats the call and leaves ends nothing
    await world.clock.advance(1_000);
    expect(world.last()?.end).toBeNull();
    expect(await repeat).toMatchObject({ kind: "failed", code: "cancelled" });
    const stopped = world.gate[Symbol.asyncDispose]();
    await world.clock.advance(250);
    await waitForEnd("the stop", Promise.resolve(stopped));
    expect(world.last()?.end?.status).toBe("error");
  });

  test("that says nothing is let go after half a minute, and one that is quick answers at once", async () => {
    const end = deferred<ToolResult>();
    const flags = { idempotent: false, background: true };
    const silent = toolWorld([tool(() => end.promise, { flags, timeoutMs: 3_600_000 })]);
    const outcome = silent.call({ text: "x" });
    await silent.clock.advance(30_000);
    expect(await outcome).toMatchObject({ kind: "pending", code: "background" });
    const quick = toolWorld([tool(async () => says("done"), { flags })]);
    expect(await quick.call({ text: "x" })).toEqual({ kind: "ok", result: says("done") });
    expect(quick.ended).toEqual([]);
  });

  test("may take an hour, and no longer, whatever it says itself", async () => {
    const flags = { idempotent: false, background: true };
    const world = toolWorld([tool(forever, { flags, timeoutMs: 1_000_000_000 })]);
    const outcome = world.call({ text: "x" });
    await world.clock.advance(3_599_999);
    expect([await outcome, world.ended]).toMatchObject([{ kind: "pending" }, []]);
    await world.clock.advance(251);
    expect(world.ended).toMatchObject([{ outcome: { kind: "failed", code: "tool_timeout" } }]);
  });

  test("gives its place free when it goes on", async () => {
    const world = toolWorld([slow(forever()), tool(async () => says("quick"), { name: "quick" })]);
    world.rules.now = policy({ maxTotal: 1 });
    await world.call({ text: "x" });
    expect(textOf(await world.call({ text: "x" }, { tool: "quick" }))).toBe("quick");
  });
});

describe("a call that waits for the owner", () => {
  const asking = tool(async () => says("done"), { approval: true });

  test("is pending to a program at once, goes on when the owner agrees, and its end is there for who asks again", async () => {
    const world = toolWorld([asking]);
    const answer = deferred<"once">();
    world.approvals.answer = answer.promise;
    const call = () => world.call({ text: "x" }, { callId: "c", path: "http", context: PROGRAM });
    const first = call();
    await world.clock.advance(50);
    expect(await first).toMatchObject({ kind: "pending", code: "approval_pending" });
    expect([world.last()?.begun, world.last()?.intent.waiting]).toEqual([false, true]);
    expect(await call()).toMatchObject({ kind: "pending" });
    answer.resolve("once");
    await world.clock.advance(1);
    expect(await call()).toEqual({ kind: "ok", result: says("done") });
    expect([world.approvals.asked.length, world.rows.length, world.last()?.begun]).toEqual([1, 1, true]);
  });

  test.each([
    ["an agent", "pipe"],
    ["a person's command", "command"],
    ["an MCP client", "mcp"],
  ] as const)("keeps %s waiting for the answer", async (_who, path) => {
    const world = toolWorld([asking]);
    const answer = deferred<"session">();
    world.approvals.answer = answer.promise;
    const outcome = world.call({ text: "x" }, { path });
    await world.clock.advance(60_000);
    answer.resolve("session");
    expect(await outcome).toEqual({ kind: "ok", result: says("done") });
  });

  test("is not pending to a program when the owner has allowed it for the session before", async () => {
    const world = toolWorld([asking]);
    world.approvals.answer = "session";
    const outcome = await world.call({ text: "x" }, { path: "http", context: PROGRAM });
    expect(outcome).toEqual({ kind: "ok", result: says("done") });
  });

  test("does not run when its turn ends first", async () => {
    const world = toolWorld([asking]);
    world.approvals.answer = new Promise(() => undefined);
    const turn = new AbortController();
    const outcome = world.call({ text: "x" }, {}, turn.signal);
    await world.clock.advance(1);
    turn.abort();
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
    expect([world.last()?.end?.status, world.last()?.begun]).toEqual(["error", false]);
    expect(world.last()?.end?.reply).toMatchObject({ kind: "failed", code: "cancelled" }); // what a repeat is told
  });

  test("runs with what the owner was shown, whatever a plugin does to it meanwhile", async () => {
    const world = toolWorld([tool(async (_id, params) => says((params as { text: string }).text), { approval: true })]);
    const held = { text: "harmless" };
    world.hooks.on("before_tool_call", () => ({ params: held }), "sly");
    const answer = deferred<"once">();
    world.approvals.answer = answer.promise;
    const outcome = world.call({ text: "x" });
    await world.clock.advance(100);
    held.text = "harmful";
    answer.resolve("once");
    expect(await outcome).toEqual({ kind: "ok", result: says("harmless") });
    expect(world.approvals.asked[0]?.shown).toEqual({ text: "harmless" });
  });

  test("does not run when the rules have changed while the owner thought about it", async () => {
    const world = toolWorld([asking]);
    const answer = deferred<"once">();
    world.approvals.answer = answer.promise;
    const outcome = world.call({ text: "x" });
    await world.clock.advance(100);
    world.rules.now = policy({ deny: ["echo"] });
    answer.resolve("once");
    expect(await outcome).toMatchObject({ kind: "refused", code: "not_allowed" });
  });

  test("is told to try later when too many wait already", async () => {
    const world = toolWorld([asking]);
    world.approvals.answer = "full";
    expect(await world.call({ text: "x" })).toMatchObject({ code: "rate_limited", retryAfterMs: 5_000 });
  });

  test("is approved for exactly this tool, person and parameters", async () => {
    const world = toolWorld([asking]);
    world.approvals.answer = "once";
    for (const [text, context] of [
      ["a", OWNER],
      ["a", OWNER],
      ["b", OWNER],
      ["a", MEMBER],
    ] as const)
      await world.call({ text }, { context });
    const hashes = world.approvals.asked.map(({ hash }) => hash);
    expect(hashes[0]).toBe(hashes[1] ?? "");
    expect(new Set(hashes).size).toBe(3);
  });
});
