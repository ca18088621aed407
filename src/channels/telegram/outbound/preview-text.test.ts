/** What a preview on Telegram shows of a turn, at the borders of its room. */
import { expect, test } from "bun:test";
import { emptyView } from "../../kit/turn-views.ts";
import { noteTool } from "../../kit/running-tools.ts";
import { previewOf } from "./preview-text.ts";

interface Said {
  readonly text?: string;
  readonly waiting?: string;
  /** By call id: what it says; null: it is over. */
  readonly tools?: Readonly<Record<string, string | null>>;
}

function view({ text = "", waiting = "", tools = {} }: Said) {
  const made = { ...emptyView(), text, waiting };
  for (const [callId, progress] of Object.entries(tools)) {
    const call = { callId, tool: callId };
    noteTool(made.tools, { ...call, status: "running", ...(progress ? { progress } : {}) });
    if (progress === null) noteTool(made.tools, { ...call, status: "success" });
  }
  return made;
}
const shown = (mode: "off" | "partial" | "block" | "progress", said: Said) => previewOf(mode, view(said))?.text ?? null;

test.each([
  [199, null],
  [200, 200],
])("whole blocks of %d characters are shown up to %p", (length, chars) => {
  expect(shown("block", { text: `${"x".repeat(length)}\n\nmore` })?.length ?? null).toBe(chars);
});

test("six tools are listed, and the earlier ones are counted when there are more", () => {
  const tools = (count: number) => ({
    tools: Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, ""])),
  });
  expect(shown("progress", tools(6))?.split("\n")).toEqual([
    "Working on it",
    "… t0",
    "… t1",
    "… t2",
    "… t3",
    "… t4",
    "… t5",
  ]);
  expect(shown("progress", tools(8))?.split("\n").slice(1, 3)).toEqual(["✓ 2 earlier", "… t2"]);
  expect([shown("progress", {}), shown("progress", { tools: { a: null } })]).toEqual([null, "Working on it\n✓ a"]);
});

test("a tool that speaks stands below the answer as code, as long as both fit into one message", () => {
  const both = (chars: number) => previewOf("partial", view({ text: "x".repeat(chars), tools: { bash: "words" } }));
  const line = "\n\n… bash: words";
  const fits = both(4_096 - line.length);
  expect([fits?.text.length, fits?.text.endsWith(line)]).toEqual([4_096, true]);
  expect(fits?.entities).toEqual([{ type: "code", offset: 4_096 - "words".length, length: 5 }]);
  expect(both(4_097 - line.length)?.text).toBe("x".repeat(4_097 - line.length));
});

test("a tool without words is shown before there is an answer, and not below one", () => {
  const silent = { tools: { bash: null } };
  expect(shown("partial", silent)).toBeNull(); // none ever spoke
  const spoke = view({ tools: { bash: "words" } });
  noteTool(spoke.tools, { callId: "bash", tool: "bash", status: "success" });
  expect(previewOf("partial", spoke)?.text).toBe("✓ bash");
  expect(previewOf("partial", { ...spoke, text: "hi" })?.text).toBe("hi");
});

test("a wait is shown instead of everything else, and nothing where previews are off", () => {
  const said = { text: "hi", waiting: "acme asks to wait", tools: { bash: "words" } };
  expect(["partial", "block", "progress", "off"].map((mode) => shown(mode as "off", said))).toEqual([
    "acme asks to wait",
    "acme asks to wait",
    "acme asks to wait",
    null,
  ]);
});
