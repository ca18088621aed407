/** What a preview on Discord shows of a turn, at the borders of its room. */
import { expect, test } from "bun:test";
import { emptyView } from "../../kit/turn-views.ts";
import { noteTool } from "../../kit/running-tools.ts";
import { isNewer, isSnowflake, snowflakeAt, snowflakeTime } from "../settings.ts";
import { previewText } from "./preview-text.ts";

function view(text = "", tools: Readonly<Record<string, string>> = {}, waiting = "") {
  const made = { ...emptyView(), text, waiting };
  for (const [tool, progress] of Object.entries(tools))
    noteTool(made.tools, { callId: tool, tool, status: "running", ...(progress === "" ? {} : { progress }) });
  return made;
}

test("the newest five tools are listed on Discord, with their names as they are", () => {
  const names = Array.from({ length: 7 }, (_, n) => `tool_${n}`);
  const shown = previewText(view("", Object.fromEntries(names.map((name) => [name, ""]))), "progress");
  expect(shown.split("\n")).toEqual(["Working …", ...names.slice(2).map((name) => `• ${name.replace("_", "\\_")}`)]);
  expect(previewText(view(), "progress")).toBe("");
});

test("a tool on Discord that speaks stands below the answer as code, as long as both fit into one message", () => {
  const line = "\n\n• bash: `it's`";
  const both = (chars: number) => previewText(view("x".repeat(chars), { bash: "it`s" }), "partial");
  const room = 2_000 - line.length - " …".length;
  expect([both(room).length, both(room).endsWith(line)]).toEqual([2_000, true]);
  expect(both(room + 1)).toBe(`${"x".repeat(room + 1)} …`);
});

test("a tool on Discord without words is shown before there is an answer, and not below one", () => {
  const spoke = view("", { bash: "words" });
  noteTool(spoke.tools, { callId: "bash", tool: "bash", status: "success" });
  expect([previewText(spoke, "partial"), previewText({ ...spoke, text: "hi" }, "partial")]).toEqual(["• bash", "hi …"]);
});

test("a wait is shown on Discord instead of everything else, and nothing where previews are off", () => {
  const modes = ["partial", "block", "progress", "off"] as const;
  expect(modes.map((mode) => previewText(view("hi", { bash: "x" }, "acme waits"), mode))).toEqual([
    "acme waits …",
    "acme waits …",
    "acme waits …",
    "",
  ]);
});

test.each([
  ["1".repeat(16), false],
  ["1".repeat(17), true],
  ["1".repeat(20), true],
  ["1".repeat(21), false],
  [`${"1".repeat(17)}x`, false],
])("an id %p is one of Discord's: %p", (id, is) => {
  expect(isSnowflake(id)).toBe(is);
});

test("ids of Discord are compared as numbers, and know their time; before Discord there was none", () => {
  expect([isNewer("1000", "999"), isNewer("999", "1000"), isNewer("999", "999")]).toEqual([true, false, false]);
  expect(snowflakeTime(snowflakeAt(1_700_000_000_123))).toBe(1_700_000_000_123);
  expect([snowflakeAt(0), snowflakeAt(1_420_070_400_000), snowflakeAt(1_420_070_400_001.9)]).toEqual([
    "0",
    "0",
    String(1n << 22n),
  ]);
});
