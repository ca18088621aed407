/** Who is asked before a tool runs, who is told while it does, and who comes first when a slot is free: as tables. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import type { AgentId, SessionKey } from "../../contracts/ids.ts";
import type { ToolResult } from "../../contracts/tools/tool.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { createApprovals } from "../approvals.ts";
import { needsApproval } from "../policy.ts";
import { createSlots } from "../run/slots.ts";
import { executionOf, tellEnded, tellStarted, tellUpdated } from "../run/tell-execution.ts";

const NEVER = new AbortController().signal;

test.each<
  [what: string, tool: object, rules: Parameters<typeof policy>[0], outside: string | null, because: string | null]
>([
  ["any tool", {}, {}, null, null],
  ["one in the list", {}, { approvals: { ask: ["t"], never: [] } }, null, "asked"],
  ["one in both lists", {}, { approvals: { ask: ["t"], never: ["t"] } }, null, null],
  ["one that always asks", { approval: true }, {}, null, "the tool always asks"],
  ["one that opens a terminal", { flags: { pty: true } }, {}, null, "it opens a terminal"],
  ["one that may do anything", { flags: { elevated: true } }, {}, null, "it may do anything the gateway's user may"],
  [
    "one of pi that may do anything",
    { flags: { elevated: true }, byPi: true },
    {},
    null,
    "it may do anything the gateway's user may",
  ],
  [
    "one of pi behind the wall",
    { flags: { elevated: true }, byPi: true },
    { confined: true },
    null,
    "it may do anything the sandbox lets through",
  ],
  [
    "one of a plugin behind the wall",
    { flags: { elevated: true } },
    { confined: true },
    null,
    "it may do anything the gateway's user may",
  ],
  ["a call beyond its workspace", {}, {}, "it leaves", "it leaves"],
  ["such a call that never asks", {}, { approvals: { ask: [], never: ["t"] } }, "it leaves", null],
  [
    "one that waits for a review",
    { review: { because: "it is new" } },
    { approvals: { ask: [], never: ["*"] } },
    null,
    "it is new",
  ],
])("an owner is asked about %s as the rules say", (...[, more, rules, outside, because]) => {
  const found = needsApproval({ name: "t", flags: {}, ...more } as never, policy(rules), outside);
  if (because === "asked") expect(found).not.toBeNull();
  else expect(found).toBe(because);
});

test("events and plugins are told the same of a call: its start, what it says and its end, without secrets", () => {
  const told: unknown[] = [];
  const mask = { text: (words: string) => words.replaceAll("hunter2", "***") };
  const deps = {
    events: { emit: (name: string, event: unknown) => void told.push(["event", name, event]) },
    hooks: { tell: (name: string, event: unknown) => void told.push(["hook", name, event]) },
    mask,
  } as never;
  const of = executionOf(
    deps,
    { callId: "c hunter2", context: { sessionKey: "s", turnId: "t" } } as never,
    "tool hunter2",
  );
  expect(of).toEqual({ sessionKey: "s", turnId: "t", callId: "c ***", tool: "tool ***" } as never);
  tellStarted(deps, of, { a: "hunter2" });
  tellUpdated(deps, of, 7);
  const result = { content: [{ type: "text" as const, text: "hunter2" }] };
  tellEnded(deps, of, {
    status: "error",
    ms: 5,
    background: false,
    params: { a: "hunter2" },
    result,
    error: "hunter2",
  } as never);
  const both = (name: string, event: object) => [
    ["event", name, { ...of, ...event }],
    ["hook", name, { ...of, ...event }],
  ];
  expect(told).toEqual([
    ...both("tool_execution_start", { params: { a: "***" } }),
    ...both("tool_execution_update", { chars: 7 }),
    ...both("tool_execution_end", {
      status: "error",
      ms: 5,
      background: false,
      params: { a: "***" },
      result: { content: [{ type: "text", text: "***" }] },
      error: "***",
    }),
  ]);
});

test("whoever decides an approval is judged where they decide it", async () => {
  const asked: unknown[] = [];
  const approvals = createApprovals(
    { mayDecide: async (...who: readonly unknown[]) => (asked.push(who), false), clock: createFakeClock() } as never,
    () => ({ waitMs: 1 }),
  );
  const at = { address: { channel: "telegram" } } as never;
  expect(await approvals.decide("ask_1", "once", "p" as never, at)).toBe("not_allowed");
  expect(await approvals.decide("ask_1", "once", "p" as never)).toBe("not_allowed");
  expect(asked).toEqual([
    ["p", at],
    ["p", null],
  ]);
});

describe("a slot that is free", () => {
  test("is for those who wait, also when the limit was raised meanwhile", async () => {
    const limits = { maxPerSession: 1, maxTotal: 1 };
    const slots = createSlots(createFakeClock(), () => limits);
    const A = "a" as SessionKey;
    const first = await slots.take(A, { sequential: false }, NEVER);
    const order: string[] = [];
    const second = slots.take(A, { sequential: false }, NEVER).then((slot) => (order.push("second"), slot));
    limits.maxPerSession = 2;
    limits.maxTotal = 2;
    const third = slots.take(A, { sequential: false }, NEVER).then((slot) => (order.push("third"), slot));
    await Promise.resolve();
    expect(order).toEqual([]);
    first?.[Symbol.dispose]();
    await Promise.all([second, third]);
    expect(order).toEqual(["second", "third"]);
  });
});

describe("a tool that fails", () => {
  test.each([
    [
      "with a sentence for people",
      new GatewayError("tool_failed" as never, "inner words", { say: "Say this." }),
      "Say this.",
    ],
    ["with words", new Error("no such city"), "no such city"],
    ["with nothing", undefined, "The tool failed without saying why."],
  ])("%s is told so", async (_how, error, message) => {
    const { call } = toolWorld([tool(() => Promise.reject(error))]);
    expect(await call({ text: "hi" })).toMatchObject({ kind: "failed", code: "tool_failed", message });
  });

  test("as results of other programs say it is a failure, with its words or without", async () => {
    const failing = (result: object) =>
      toolWorld([tool(async () => ({ ...result, isError: true }) as unknown as ToolResult)]).call({ text: "hi" });
    expect(await failing(says("bad"))).toMatchObject({ kind: "failed", message: "bad" });
    expect(await failing(says(""))).toMatchObject({ kind: "failed", message: "The tool failed without saying why." });
  });

  test("to be made for somebody is not there for them, and is in the log", async () => {
    const made = tool(async () => says("fine"));
    const world = toolWorld([]);
    let broken = false;
    world.registry.register(() => {
      if (broken) throw new GatewayError("plugin_invalid", "wrong");
      return made;
    }, "own");
    broken = true;
    const outcome = await world.call({ text: "hi" }, { context: MEMBER });
    expect(outcome.kind).toBe("refused");
    expect(world.log.lines.map(({ words }) => words)).toContain("tool factory failed");
  });
});

test("a tool runs with what the owner was shown, although whoever called it changes the parameters meanwhile", async () => {
  const ran: unknown[] = [];
  const world = toolWorld([
    tool(
      async (_id, params) => {
        ran.push(params);
        return says("done");
      },
      { approval: true, parameters: { type: "object" } },
    ),
  ]);
  const answer = Promise.withResolvers<"once">();
  world.approvals.answer = answer.promise;
  const params = { files: [{ name: "shown" }] };
  const outcome = world.call(params);
  await world.clock.advance(0);
  expect(world.approvals.asked[0]?.shown).toEqual({ files: [{ name: "shown" }] });
  params.files.forEach((file) => void (file.name = "something else"));
  answer.resolve("once");
  expect(await outcome).toMatchObject({ kind: "ok" });
  expect(ran).toEqual([{ files: [{ name: "shown" }] }]);
});

test("questions about calls that differ in tool, parameters, conversation, person or agent have hashes that differ", async () => {
  const asking = tool(async () => says("done"), { approval: true });
  const world = toolWorld([asking, { ...asking, name: "other" }]);
  const other = "agent:other:webchat:dm:2";
  await world.call({ text: "a" });
  await world.call({ text: "b" });
  await world.call({ text: "a" }, { tool: "other" });
  await world.call({ text: "a" }, { context: { ...OWNER, sessionKey: other as SessionKey } });
  await world.call({ text: "a" }, { context: { ...OWNER, principal: MEMBER.principal } });
  await world.call({ text: "a" }, { context: { ...OWNER, agentId: "other" as AgentId } });
  const hashes = world.approvals.asked.map(({ hash }) => hash);
  expect([hashes.length, new Set(hashes).size]).toEqual([6, 6]);
  await world.call({ text: "a" });
  expect(world.approvals.asked.at(-1)?.hash).toBe(hashes[0] ?? "");
});

test.each(["a result", "an error"])(
  "%s that a plugin has rewritten is what is kept for whoever follows calls, and what was said for the caller and the hook after the call",
  async (kind) => {
    const secret = "what was said";
    const world = toolWorld([
      tool(async () => {
        if (kind === "an error") throw new Error(secret);
        return { ...says(secret), details: { secret } };
      }),
    ]);
    world.hooks.on("tool_result_persist", () => ({ output: "what is kept" }), "guard");
    const events: unknown[] = [];
    world.events.on("tool_execution_end", (event) => void events.push(event));
    const outcome = await world.call({ text: "x" });
    const told = (name: string) => JSON.stringify(world.hooks.told.find((one) => one.name === name)?.event);
    const followed = [JSON.stringify(events), told("tool_execution_end"), JSON.stringify(world.last()?.end)];
    for (const words of followed)
      expect([words.includes(secret), words.includes("what is kept")]).toEqual([false, true]);
    for (const words of [JSON.stringify(outcome), told("after_tool_call")]) expect(words).toContain(secret);
  },
);
