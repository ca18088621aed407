/** What a tool gives to programs besides its text: by its output schema, within limits, masked, and the same when it is told again. */
import { describe, expect, test } from "bun:test";
import type { ToolResult } from "../../contracts/tools/tool.ts";
import { USUAL_LIMITS } from "../../testing/tools/quiet-deps.ts";
import { PROGRAM, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { NO_MASK } from "../../kit/secret.ts";

const outputSchema = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] };
const sound = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" } as const;
const paper = { type: "resource", uri: "paper://1", mimeType: "text/plain", text: "word for word" } as const;
const LARGEST = 7 * 1024 * 1024;
const gives = (more: object, over: object = {}) =>
  toolWorld([tool(async () => ({ ...says("21 degrees"), ...more }) as ToolResult, over)]);
const called = (world: ReturnType<typeof gives>, callId = "c1") =>
  world.call({ text: "hi" }, { path: "mcp", context: PROGRAM, callId });

describe("a result", () => {
  test("has the value of its output schema, sounds and documents, and the same when it is told again", async () => {
    const world = gives({ structured: { celsius: 21 }, media: [sound, paper], more: 1 }, { outputSchema });
    const expected = {
      kind: "ok",
      result: { ...says("21 degrees"), structured: { celsius: 21 }, media: [sound, paper] },
    };
    expect(await called(world)).toEqual(expected as never);
    expect(await called(world)).toEqual(expected as never);
    expect(world.rows).toHaveLength(1);
  });

  test.each([
    ["nothing", {}],
    ["another type", { structured: { celsius: "warm" } }],
    ["a list", { structured: [21] }],
    ["a circle", { structured: circle() }],
  ])("with %s where the output schema wants a number is a failure of the tool", async (_what, more) => {
    const outcome = await called(gives(more, { outputSchema }));
    expect(outcome).toMatchObject({
      kind: "failed",
      code: "tool_failed",
      message: expect.stringContaining("echo failed"),
    });
  });

  test.each([
    ["a list", [21]],
    ["a text", "warm"],
    ["nothing", null],
    ["too much", { wind: "x".repeat(USUAL_LIMITS.maxOutputChars) }],
  ])(
    "whose value for programs is %s is a failure of the tool, also without an output schema",
    async (_what, structured) => {
      expect(await called(gives({ structured }))).toMatchObject({ kind: "failed", code: "tool_failed" });
    },
  );

  test("may have a value for programs that is as long as an output", async () => {
    const wind = "x".repeat(USUAL_LIMITS.maxOutputChars - JSON.stringify({ wind: "" }).length);
    expect(await called(gives({ structured: { wind } }))).toMatchObject({
      kind: "ok",
      result: { structured: { wind } },
    });
  });

  test("may have any value without an output schema", async () => {
    expect(await called(gives({ structured: { wind: "north" } }))).toMatchObject({
      result: { structured: { wind: "north" } },
    });
  });

  test.each([
    ["no list", { media: sound }],
    ["an unknown kind", { media: [{ ...sound, type: "video" }] }],
    ["no bytes", { media: [{ type: "audio", mimeType: "audio/wav" }] }],
    ["too many", { media: Array(9).fill(sound) }],
    ["a text", { media: "UklGRg==" }],
    ["too large a sound", { media: [{ ...sound, data: "x".repeat(LARGEST + 1) }] }],
    ["too large a document", { media: [{ ...paper, text: "x".repeat(LARGEST + 1) }] }],
    ["a document without an address", { media: [{ ...paper, uri: 1 }] }],
  ])("whose media is %s is a failure of the tool", async (_what, more) => {
    expect(await called(gives(more))).toMatchObject({ kind: "failed", code: "tool_failed" });
  });

  test("may have eight sounds and documents, each of the largest size", async () => {
    const given = { media: [{ ...sound, data: "x".repeat(LARGEST) }, ...Array(7).fill(paper)] };
    expect(await called(gives(given))).toMatchObject({ kind: "ok" });
  });

  test("that says it is an error needs nothing of its output schema, and its words are the error", async () => {
    const world = gives({ isError: true }, { outputSchema });
    expect(await called(world)).toEqual({ kind: "failed", code: "tool_failed", message: "21 degrees" });
  });

  test("shows no secret that the gateway knows", async () => {
    const mask = { ...NO_MASK, text: (text: string) => text.replaceAll("word", "****") };
    const given = { structured: { said: "a word" }, media: [{ ...paper, uri: "paper://word" }, sound] };
    const world = toolWorld([tool(async () => ({ ...says("x"), ...given }) as ToolResult)], { mask });
    expect(await called(world)).toMatchObject({
      result: { structured: { said: "a ****" }, media: [{ uri: "paper://****", text: "**** for ****" }, sound] },
    });
  });
});

test("a tool whose output schema cannot be used is quarantined", async () => {
  const { registry } = gives(
    {},
    { outputSchema: { type: "object", properties: { a: { $ref: "https://example.org/x" } } } },
  );
  expect(registry.list()).toMatchObject([{ status: "quarantined", reason: expect.stringContaining("outputSchema") }]);
});

function circle(): object {
  const made: Record<string, unknown> = {};
  made["self"] = made;
  return made;
}
