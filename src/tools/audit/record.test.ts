/** A secret inside a refusal does not reach the record, whether the call was refused at once or after it had waited. */
import { expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { USUAL_LIMITS } from "../../testing/tools/quiet-deps.ts";
import { OWNER, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";

const SECRET = "s3cret-value";
const NEVER = new AbortController().signal;

test("a refused call whose reason holds a secret is stored without it", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  world.hooks.on("before_tool_call", () => ({ block: `the token ${SECRET} is not for this` }), "guard");
  expect(await world.call({ text: "x" })).toMatchObject({ kind: "refused" });
  expect(world.last()?.end).toMatchObject({ status: "blocked", output: "the token [redacted] is not for this" });
  expect(JSON.stringify(world.rows)).not.toContain(SECRET);
});

test("a call that waited for an approval and is refused with a secret in the reason is stored without it", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  const principal = SECRET as Principal;
  world.rules.now = policy({ approvals: { ask: ["echo"], never: [] } });
  const answer = Promise.withResolvers<"once">();
  world.approvals.answer = answer.promise;
  const outcome = world.call({ text: "x" }, { context: { ...OWNER, principal } });
  await world.clock.advance(0);
  world.rules.now = { ...world.rules.now, principals: { [principal]: { deny: ["echo"] } } };
  answer.resolve("once");
  expect(await outcome).toMatchObject({ kind: "refused", message: expect.stringContaining(SECRET) });
  expect(world.last()?.end?.output).toContain('tools.principals["[redacted]"].deny names it');
});

test("a secret that is the name of a parameter, or stands under a secret name, is stored masked", async () => {
  const world = toolWorld([tool(async () => says("x"), { parameters: { type: "object" } })]);
  expect(await world.call({ [`x-${SECRET}`]: 1, deep: [{ apiKey: "plain", [SECRET]: SECRET }] })).toMatchObject({
    kind: "ok",
  });
  expect(world.last()?.intent.input).toEqual({
    "x-[redacted]": 1,
    deep: [{ apiKey: "[redacted]", "[redacted]": "[redacted]" }],
  });
});

test("a secret at the end of what is kept of an output is masked before the rest is cut away", async () => {
  const most = USUAL_LIMITS.maxOutputChars; // what is kept of an output is as long, and a line end stands between two texts
  const texts = ["x".repeat(most - SECRET.length), SECRET];
  const world = toolWorld([tool(async () => ({ content: texts.map((text) => ({ type: "text" as const, text })) }))]);
  await world.call({ text: "x" });
  expect(world.last()?.end?.output.slice(-12)).toBe("x\n[redacted]");
});

test("an end that cannot be recorded is logged, and the caller gets what the tool said", async () => {
  const world = toolWorld([tool(async () => says("done"))]);
  world.store.settle = () => Promise.reject(new Error("disk full"));
  expect(await world.call({ text: "x" }, { callId: "c" })).toEqual({ kind: "ok", result: says("done") });
  await world.clock.advance(0);
  expect(world.log.lines.map(({ words }) => words)).toContain("end of a tool call could not be recorded");
  await waitForEnd("the stop", Promise.resolve(world.gate[Symbol.asyncDispose]()));
});

test("a refusal that cannot be recorded says that nothing was run, and the stop does not wait for it", async () => {
  const world = toolWorld([]);
  world.store.refuse = () => Promise.reject(new Error("disk full"));
  expect(await world.call({ text: "x" })).toMatchObject({ kind: "failed", code: "tool_failed" });
  const refusal = { reason: "too_many", because: "Too many." } as const;
  world.gate.recordRejected({ tool: "echo", callId: "c", params: {}, path: "pipe", context: OWNER, ...refusal });
  await waitForEnd("the stop", Promise.resolve(world.gate[Symbol.asyncDispose]()));
  expect(world.log.lines.map(({ words }) => words)).toEqual(
    expect.arrayContaining(["tool call could not be recorded", "tool call could not be recorded"]),
  );
});

test.each(["at once", "after it waited for the owner"])("a call that is refused %s is an event", async (when) => {
  const world = toolWorld([tool(async () => says("x"), { approval: when !== "at once" })]);
  const told: unknown[] = [];
  world.events.on("tool_refused", (event) => void told.push(event));
  await world.call(when === "at once" ? {} : { text: "x" }, { callId: "c" });
  const { sessionKey, turnId } = OWNER;
  const status = when === "at once" ? "error" : "blocked";
  expect(told).toEqual([{ sessionKey, turnId, callId: "c", tool: "echo", status }]);
});

test("the record keeps what was asked beside what ran only where they differ", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  await world.call({ text: "x" });
  expect(world.last()?.intent).not.toHaveProperty("asked");
  world.hooks.on("before_tool_call", () => ({ params: { text: "other" } }), "rewriter");
  await world.call({ text: `take ${SECRET}` });
  expect(world.last()?.intent).toMatchObject({ input: { text: "other" }, asked: { text: "take [redacted]" } });
});

test("the record of a call holds so many characters of what the tool said, and so many of its parameters", async () => {
  const texts = Array.from({ length: 1_000 }, () => ({ type: "text", text: "x".repeat(262) }) as const);
  const world = toolWorld([tool(async () => ({ content: texts }))]); // with the line breaks between them it is too long
  await world.call({ text: "x" });
  await world.clock.advance(0);
  expect(world.last()?.end?.output.length).toBe(256 * 1024);
  await world.call({ text: "x".repeat(300_000) });
  expect(world.last()?.intent.input).toEqual({ leftOut: expect.stringContaining("characters") });
});

test("a result of several parts is kept whole and without secrets, and told again to a repeat of its call", async () => {
  const parts = [SECRET, "two"].map((text) => ({ type: "text", text }) as const);
  const world = toolWorld([tool(async () => ({ content: parts }))]);
  await world.call({ text: "x" }, { callId: "c" });
  await world.clock.advance(0);
  expect(JSON.stringify(world.rows)).not.toContain(SECRET);
  const again = await world.call({ text: "x" }, { callId: "c" });
  expect(again).toEqual({
    kind: "ok",
    result: {
      content: [
        { type: "text", text: "[redacted]" },
        { type: "text", text: "two" },
      ],
    },
  });
});

test("a result of several parts that is too long to be kept whole is kept as its text", async () => {
  for (const [chars, isKept] of [
    [30_000, true],
    [40_000, false],
  ] as const) {
    const part = { type: "text", text: "x".repeat(chars) } as const;
    const world = toolWorld([tool(async () => ({ content: [part, part] }))]);
    await world.call({ text: "x" });
    await world.clock.advance(0);
    expect(world.last()?.end?.reply !== undefined).toBe(isKept);
    expect(world.last()?.end?.output).toHaveLength(2 * chars + 1);
  }
});

test("the answer of an owner who denied a call is told to its repeat, and nobody is asked again", async () => {
  const world = toolWorld([tool(async () => says("x"), { approval: true })]);
  const first = await world.call({ text: "x" }, { callId: "c" });
  expect(first).toMatchObject({ kind: "refused", code: "approval_denied" });
  world.approvals.answer = "once";
  expect(await world.call({ text: "x" }, { callId: "c" })).toEqual(first);
  expect(world.approvals.asked).toHaveLength(1);
});

test("events and log name a refused tool as the gateway does, however its caller spelt it", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  const told: string[] = [];
  world.events.on("tool_refused", (event) => void told.push(event.tool));
  await world.call({}, { tool: "Echo" });
  expect([told, world.last()?.intent.tool]).toEqual([["echo"], "echo"]);
});

test("an owner's no holds for the call that was shown: other parameters under the same id are asked about anew", async () => {
  const world = toolWorld([tool(async () => says("x"), { approval: true })]);
  await world.call({ text: "x" }, { callId: "c" });
  world.approvals.answer = "once";
  expect(await world.call({ text: "y" }, { callId: "c" })).toEqual({ kind: "ok", result: says("x") });
  expect(world.approvals.asked).toHaveLength(2);
});

test("a call that failed is told again as it ended, and is not run again", async () => {
  let ran = 0;
  const fails = async (): Promise<never> => {
    ran++;
    throw new Error("no such city");
  };
  const world = toolWorld([tool(fails)]);
  const first = await world.call({ text: "x" }, { callId: "c" });
  await world.clock.advance(0);
  expect(first).toEqual({ kind: "failed", code: "tool_failed", message: "no such city" });
  expect([await world.call({ text: "x" }, { callId: "c" }), ran]).toEqual([first, 1]);
});

test("the record of a pi tool keeps what the model asked for beside what pi made of it", async () => {
  const world = toolWorld([]);
  world.rules.now = policy({ profile: () => "workspace" });
  const admit = (callId: string, asked: unknown) =>
    world.gate.admit({ tool: "read", callId, params: { path: "5" }, asked, path: "pi", context: OWNER }, NEVER);
  expect((await admit("c1", { path: 5 })).kind).toBe("go");
  expect(world.last()?.intent).toMatchObject({ input: { path: "5" }, asked: { path: 5 } });
  expect((await admit("c2", { path: "5" })).kind).toBe("go");
  expect(world.last()?.intent).not.toHaveProperty("asked");
});

test.each(["tool_timeout", "cancelled", "tool_failed"])(
  "a call that ended with %s is told again as that to a repeat of it",
  async (code) => {
    const stop = new AbortController();
    const world = toolWorld([
      tool(async (_id, _params, signal) => {
        if (code === "tool_failed") throw new Error("no luck");
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
        return says("never");
      }),
    ]);
    const first = world.call({ text: "x" }, { callId: "c" }, stop.signal);
    await world.clock.advance(1);
    if (code === "cancelled") stop.abort(new Error("nobody wants it any more"));
    await world.clock.advance(1_000);
    expect(await first).toMatchObject({ kind: "failed", code });
    await world.clock.advance(0);
    expect(await world.call({ text: "x" }, { callId: "c" })).toEqual(await first);
    expect(world.rows).toHaveLength(1);
  },
);
