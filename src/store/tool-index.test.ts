/** The full-text index of tools: what is found, in which order, and that it forgets nothing and keeps no more than it should. */
import { expect, test } from "bun:test";
import type { ToolText } from "../contracts/tools/tool-index.ts";
import { createToolIndex } from "./tool-index.ts";

const text = (name: string, description = "", more: Partial<ToolText> = {}): ToolText => ({
  name,
  label: "",
  description,
  parameters: "",
  ...more,
});
const names = (found: readonly ToolText[]) => found.map(({ name }) => name);

test("a word in the name counts most, then the label, the description and the parameters", () => {
  using index = createToolIndex();
  const among = [
    text("d", "", { parameters: "calendar" }),
    text("c", "Adds to a calendar"),
    text("b", "", { label: "Calendar" }),
    text("calendar"),
    text("weather", "Says how it will be"),
  ];
  expect(names(index.search(among, ["calendar"], 10))).toEqual(["calendar", "b", "c", "d"]);
});

test("rare words count more than common ones, and more words more than one", () => {
  using index = createToolIndex();
  const common = Array.from({ length: 50 }, (_, n) => text(`get thing ${n}`));
  const among = [...common, text("get invoice"), text("list invoice"), text("get invoice lines")];
  const found = names(index.search(among, ["get", "invoice", "lines"], 3));
  expect(found[0]).toBe("get invoice lines");
  expect(found.slice(1).toSorted()).toEqual(["get invoice", "list invoice"]);
});

test.each([
  ["other forms of a word", "events", "create event"],
  ["the beginning of a long word", "calen", "calendar"],
  ["words with other accents", "resume", "résumé"],
  ["capitals", "slack", "SLACK"],
])("%s are found", (_what, asked, written) => {
  using index = createToolIndex();
  expect(names(index.search([text("other"), text(written)], [asked], 5))).toEqual([written]);
});

test.each([['"'], ["*"], ["NOT"], ["name:x"], ["("], ["a AND b"], ["-"], ["'; drop table tools"]])(
  "the word %j is a word and no operator",
  (word) => {
    using index = createToolIndex();
    expect(() => index.search([text("x")], [word], 5)).not.toThrow();
  },
);

test("only tools that are asked about are found, also when others are in the index", () => {
  using index = createToolIndex();
  const [a, b] = [text("mail one"), text("mail two")];
  expect(names(index.search([a, b], ["mail"], 10))).toEqual(["mail one", "mail two"]);
  expect(names(index.search([b], ["mail"], 10))).toEqual(["mail two"]);
  expect(index.search([], ["mail"], 10)).toEqual([]);
  expect(index.search([a], [], 10)).toEqual([]);
});

test("tools that come and go again and again leave the search as it is", () => {
  using index = createToolIndex();
  for (let round = 0; round < 60; round++) {
    const among = Array.from({ length: 50 }, (_, n) => text(`tool ${round} ${n}`));
    expect(names(index.search(among, ["17"], 60))).toContain(`tool ${round} 17`);
  }
});
