/** Limits of tool calls hold as the settings say now, not as they were when the gateway started. */
import { expect, test } from "bun:test";
import { USUAL_LIMITS } from "../../testing/tools/quiet-deps.ts";
import type { ToolResult } from "../../contracts/tools/tool.ts";
import { OWNER, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { MAX_BACKGROUND } from "./run-call.ts";

const NEVER = new AbortController().signal;

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

test("text and images of a result are bounded by maxOutputChars and maxImages, which may change at any time", async () => {
  const image = { type: "image", data: PNG, mimeType: "image/png" } as const;
  const echo = tool(async () => ({ content: [{ type: "text", text: "x".repeat(2_000) }, image, image] }));
  const limits = { ...USUAL_LIMITS };
  const world = toolWorld([echo], { runLimits: () => limits });
  const kinds = async () => {
    const outcome = await world.call({ text: "a" });
    if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
    return outcome.result.content.map((block) => (block.type === "text" ? block.text.slice(-40) : "image"));
  };
  expect(await kinds()).toEqual(["x".repeat(40), "image", "image"]);
  Object.assign(limits, { maxOutputChars: 1_000, maxImages: 1 });
  expect(await kinds()).toEqual([
    expect.stringContaining("[cut: 1000 more characters]"),
    "image",
    "[image left out: more than 1 images]",
  ]);
});

test("a background tool goes on alone after backgroundMs", async () => {
  const ended = Promise.withResolvers<void>();
  const slow = tool(async () => {
    await ended.promise;
    return says("done");
  });
  const background = { ...slow, flags: { idempotent: false, background: true }, timeoutMs: 600_000 };
  const world = toolWorld([background], { runLimits: () => ({ ...USUAL_LIMITS, backgroundMs: 2_000 }) });
  let answered = false;
  const calling = world.call({ text: "a" }).then((outcome) => ((answered = true), outcome));
  await world.clock.advance(1_999);
  expect(answered).toBe(false);
  await world.clock.advance(1);
  expect((await calling).kind).toBe("pending");
  ended.resolve();
});

test("a tool that ignores its cancellation is left behind after cleanupMs", async () => {
  const deaf = tool(() => new Promise(() => undefined));
  const world = toolWorld([deaf], { runLimits: () => ({ ...USUAL_LIMITS, cleanupMs: 5_000 }) });
  const cancel = new AbortController();
  let answered = false;
  const calling = world.call({ text: "a" }, {}, cancel.signal).then((outcome) => ((answered = true), outcome));
  await world.clock.advance(1);
  cancel.abort(new Error("stop"));
  await world.clock.advance(4_999);
  expect(answered).toBe(false);
  await world.clock.advance(1);
  expect(await calling).toMatchObject({ kind: "failed", code: "cancelled" });
});

test("a background tool that reports many times goes on alone once, and leaves room for others when it ends", async () => {
  const chatty = tool(
    async (_id, _params, _signal, report) => {
      for (let n = 0; n < 2 * MAX_BACKGROUND; n++) {
        report(says(`part ${n}`));
        await world.clock.sleep(200, NEVER);
      }
      return says("done");
    },
    { flags: { idempotent: true, background: true }, timeoutMs: 600_000 },
  );
  const world = toolWorld([chatty]);
  for (let round = 0; round < 2; round++) {
    expect(await world.call({ text: "a" })).toEqual({ kind: "pending", code: "background", message: "part 0" });
    await world.clock.advance(600_000);
    expect(world.ended).toHaveLength(round + 1);
  }
});

test("a tool that waits for another agent has an hour, whatever it says itself", async () => {
  const deaf = tool(() => new Promise(() => undefined), {
    flags: { idempotent: true, long: true },
    timeoutMs: 100 * 60 * 60_000,
  });
  const world = toolWorld([deaf]);
  let code = "runs";
  const request = { tool: "echo", callId: "c1", params: { text: "a" }, context: OWNER, path: "pipe" } as const;
  void world.gate.call(request, NEVER).then((outcome) => void (code = outcome.kind === "ok" ? "ok" : outcome.code));
  await world.clock.advance(60 * 60_000 - 1);
  expect(code).toBe("runs");
  await world.clock.advance(1 + USUAL_LIMITS.cleanupMs);
  expect(code).toBe("tool_timeout");
});

test("a report is cut to its first 4,096 characters, and what a tool says of its failure too", async () => {
  const told: number[] = [];
  const onUpdate = (partial: ToolResult): void =>
    void told.push(partial.content.map((one) => ("text" in one ? one.text.length : 0))[0] ?? 0);
  const reports = tool(async (_id, _params, _signal, report) => {
    report(says("x".repeat(10_000)));
    throw new Error("y".repeat(10_000));
  });
  const world = toolWorld([reports]);
  const outcome = await world.call({ text: "a" }, { onUpdate });
  expect(told).toEqual([4_096]);
  expect(outcome.kind === "failed" ? outcome.message.length : 0).toBe(4_096);
  const wrong = toolWorld([tool(async () => ({ ...says("z".repeat(10_000)), isError: true }))]);
  const failed = await wrong.call({ text: "a" });
  expect(failed.kind === "failed" ? failed.message.length : 0).toBe(4_096);
});

test("reports that come after the end of a call reach nobody", async () => {
  const told: string[] = [];
  let report: (partial: ToolResult) => void = () => undefined;
  const early = tool(async (...[, , , onUpdate]) => {
    report = onUpdate;
    return says("done");
  });
  const world = toolWorld([early]);
  world.events.on("tool_execution_update", () => void told.push("event"));
  await world.call({ text: "a" }, { onUpdate: () => void told.push("caller") });
  report(says("late"));
  await world.clock.advance(1_000);
  expect(told).toEqual([]);
});

test("an error that a plugin has yet to look at is not in the log, and any other is", async () => {
  const logged = async (guarded: boolean): Promise<string> => {
    const world = toolWorld([tool(() => Promise.reject(new Error("a private word")))]);
    if (guarded) world.hooks.on("tool_result_persist", () => ({ output: "hidden" }), "guard");
    await world.call({ text: "a" });
    const failed = world.log.lines.find(({ words }) => words === "tool failed");
    expect(failed?.fields).toMatchObject({ tool: "echo" });
    return String(failed?.fields?.["error"] ?? "");
  };
  expect([await logged(true), await logged(false)]).toEqual(["", expect.stringContaining("a private word")]);
});

test("a plugin that fails to check a call is named in the log with its error", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  const broken = (): never => {
    throw new Error("broken");
  };
  world.hooks.on("before_tool_call", broken, "guard");
  expect(await world.call({ text: "a" })).toMatchObject({ kind: "refused", code: "not_allowed" });
  const failed = world.log.lines.find(({ words }) => words === "hook failed");
  expect(failed?.fields).toMatchObject({ plugin: "guard", error: expect.any(Error) });
});

test.each([
  [250, {}, "0.3 s"],
  [1_500, {}, "1.5 s"],
  [119_999, {}, "120 s"],
  [500_000, {}, "120 s"],
  [500_000, { long: true }, "500 s"],
  [9_000_000, { long: true }, "3600 s"],
])("a tool that wants %d ms, with the flags %j, is told to have had %s", async (timeoutMs, flags, had) => {
  const deaf = tool(() => new Promise(() => undefined), { timeoutMs, flags: { idempotent: true, ...flags } });
  const world = toolWorld([deaf], { runLimits: () => ({ ...USUAL_LIMITS, cleanupMs: 1 }) });
  const calling = world.call({ text: "a" });
  await world.clock.advance(3_600_001);
  await world.clock.advance(1);
  expect(await calling).toEqual({
    kind: "failed",
    code: "tool_timeout",
    message: `echo did not finish within ${had}.`,
  });
});
