/** Small parts that channels share, each to its limit: tools of a turn, memories of a limited size, previews in doubt. */
import { describe, expect, test } from "bun:test";
import type { GatewayEvents } from "../../contracts/events.ts";
import { isInDoubt } from "./preview-platform.ts";
import type { PreviewNote } from "./preview-notes.ts";
import { remember } from "./remember.ts";
import { noTools, noteTool, speakingTool } from "./running-tools.ts";

type Told = Pick<GatewayEvents["turn.tool"], "callId" | "tool" | "status" | "progress">;

describe("tools of a turn, as a preview shows them", () => {
  const shown = (...told: readonly Told[]) => {
    const tools = noTools();
    for (const one of told) noteTool(tools, one);
    return tools;
  };
  const call = (callId: string, status: Told["status"], progress?: string): Told => ({
    callId,
    tool: `tool ${callId}`,
    status,
    ...(progress === undefined ? {} : { progress }),
  });

  test.each([
    ["running", false],
    ["pending", false],
    ["success", true],
    ["error", true],
    ["blocked", true],
  ] as const)("that are %s are done: %p", (status, done) => {
    expect(shown(call("a", status)).calls.get("a")).toEqual({ tool: "tool a", done, progress: "" });
  });

  test("keep the newest line of one that runs, and none of one that ended", () => {
    const tools = shown(call("a", "running", "one"), call("a", "running"));
    expect(tools.calls.get("a")?.progress).toBe("one");
    noteTool(tools, call("a", "success"));
    expect(tools.calls.get("a")?.progress).toBe("");
  });

  test("have a line of eighty characters, and a longer one is cut", () => {
    const line = (chars: number) => shown(call("a", "running", "x".repeat(chars))).calls.get("a")?.progress;
    expect([line(80), line(81)]).toEqual(["x".repeat(80), `${"x".repeat(79)}…`]);
  });

  test("are two hundred at most, and those that are shown go on", () => {
    const tools = noTools();
    for (let n = 0; n <= 200; n++) noteTool(tools, call(`${n}`, "running"));
    noteTool(tools, call("0", "success"));
    expect([tools.calls.size, tools.calls.has("200"), tools.calls.get("0")?.done]).toEqual([200, false, true]);
  });

  test("speak by the one that said something last, then by another that runs, then by the last one without words", () => {
    expect(speakingTool(noTools())).toBeNull();
    expect(speakingTool(shown(call("a", "running")))).toBeNull();
    const tools = shown(call("a", "running", "one"), call("b", "running", "two"), call("a", "running", "three"));
    expect(speakingTool(tools)?.progress).toBe("three");
    noteTool(tools, call("a", "success"));
    expect(speakingTool(tools)?.progress).toBe("two");
    noteTool(tools, call("c", "running", "four"));
    noteTool(tools, call("a", "running", "five"));
    noteTool(tools, call("a", "success"));
    expect(speakingTool(tools)?.progress).toBe("four"); // of those that run, the one that began last
    for (const id of ["b", "c"]) noteTool(tools, call(id, "success"));
    expect(speakingTool(tools)).toEqual({ tool: "tool a", done: true, progress: "" });
  });
});

test("a memory of a limited size forgets what was put in longest ago, and counts each once", () => {
  const known = new Map<string, number>();
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const)
    remember(known, key, value, 2);
  expect([...known]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

test.each([
  ["a message that is known", "m", { dedupeMs: 100 }, 9_999, false],
  ["a send that the platform recognises", null, { dedupeMs: 100 }, 100, false],
  ["a send that the platform has forgotten", null, { dedupeMs: 100 }, 101, true],
  ["a send that no platform recognises", null, null, 0, true],
] as const)("a preview is in doubt by %s", (...[, message, repeat, now, doubt]) => {
  const note = { message, begunAt: 0 } as unknown as PreviewNote;
  expect(isInDoubt({ repeat: repeat as never }, note, now)).toBe(doubt);
});
