/** Limits of tool calls hold as the settings say now, not as they were when the gateway started. */
import { expect, test } from "bun:test";
import { USUAL_LIMITS } from "../../testing/tools/quiet-deps.ts";
import { says, tool, toolWorld } from "../../testing/tools/tool-world.ts";

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
