import { expect, test } from "bun:test";
import { callText } from "./call-text.ts";

/** As the gateway does it: JSON whose hidden characters are written out. */
const shown = (value: unknown) => JSON.stringify(value, null, 2).replaceAll("\u202e", String.raw`\u202e`);

test("a command is shown as its lines, with hidden characters written out and everything else it runs with", () => {
  const command = `echo "a\tb"\nrm -rf \u202e/ \\n`;
  expect(callText("bash", shown({ command, timeout: 5 }))).toEqual({
    kind: "command",
    command: `echo "a\tb"\nrm -rf \\u202e/ \\n`,
    rest: '{\n  "timeout": 5\n}',
  });
  expect(callText("bash", shown({ command: "ls" }))).toEqual({ kind: "command", command: "ls", rest: null });
});

test("an edit and a new file are shown as changes of lines, with their path", () => {
  const edits = [{ oldText: "one\ntwo", newText: "one\n2" }];
  const edit = callText("edit", shown({ path: "a.txt", edits }));
  expect(edit).toMatchObject({ kind: "change", path: "a.txt", rest: null });
  expect(edit.kind === "change" && edit.changes[0]?.map(({ how }) => how)).toEqual(["same", "removed", "added"]);
  const write = callText("write", shown({ path: "b.txt", content: "x" }));
  expect(write).toMatchObject({ kind: "change", path: "b.txt", changes: [[{ how: "added", text: "x" }]] });
});

test.each([
  ["save_note", { title: "N" }],
  ["bash", { command: ["ls"] }],
  ["bash", "ls"],
  ["edit", { path: "a", edits: [{ oldText: "x", newText: "y", more: 1 }] }],
  ["edit", { path: "a", edits: [], content: "x" }],
  ["write", { path: "a", content: "x", edits: [] }],
])("a call of %s whose input has another form is shown as JSON, whole", (tool, input) => {
  expect(callText(tool, shown(input))).toEqual({ kind: "json", text: shown(input) });
});

test("parameters that a change does not show are shown beside it", () => {
  const call = callText("write", shown({ path: "a", content: "x", mode: "0777" }));
  expect(call).toMatchObject({ kind: "change", rest: '{\n  "mode": "0777"\n}' });
});
