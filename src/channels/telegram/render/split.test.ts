/** Where texts for Telegram are cut, and which entities styled runs become: small tables beside the properties of generated texts. */
import { describe, expect, test } from "bun:test";
import { cutRuns, entitiesOf, type Run, type Style, type StyleType } from "./runs.ts";
import { splitRuns } from "./split.ts";

const plain = (text: string): Run => ({ text, styles: [] });
const style = (type: StyleType): Style => ({ type });
const texts = (runs: readonly Run[], maxUnits: number): readonly string[] =>
  splitRuns(runs, maxUnits).map(({ text }) => text);
const shown = (runs: readonly Run[]): readonly string[] =>
  entitiesOf(runs).map(({ type, offset, length }) => `${type} ${offset}+${length}`);

describe("a text for telegram", () => {
  test.each([
    ["that fits is one message", "0123456789", ["0123456789"]],
    ["is cut between paragraphs", "012345\n\n7\n9ab", ["012345", "7\n9ab"]],
    ["is cut between lines", "01\n34567\n89ab", ["01\n34567", "89ab"]],
    ["is cut after a sentence", "01. 345. 789ab", ["01. 345.", "789ab"]],
    ["is cut after a question", "01 345? 789ab", ["01 345?", "789ab"]],
    ["is cut between words", "01 345 789ab", ["01 345", "789ab"]],
    ["is cut anywhere if it has to be", "0123456789ab", ["0123456789", "ab"]],
    ["is not cut too early for a nicer place", "01 3456789ab", ["01 3456789", "ab"]],
    ["loses empty lines between its messages", "0123456789\n\n\nab", ["0123456789", "ab"]],
    ["of nothing but space is nothing", " \n \n", []],
    ["is cut inside no character", "012345678👍ab", ["012345678", "👍ab"]],
  ])("%s", (_what, text, messages) => {
    expect(texts([plain(text)], 10)).toEqual(messages);
  });

  const code = (text: string): Run => ({ text, styles: [style("pre")] });
  test.each([
    [
      "begins the next message with a code block that does not fit",
      [plain("0123\n"), code("abcdefgh")],
      ["0123", "abcdefgh"],
    ],
    ["keeps a code block whole that fills a message", [code("abcdefghij"), plain("0123")], ["abcdefghij", "0123"]],
    ["cuts a code block that is too long between its lines", [code("abcd\nefg\nhijklm")], ["abcd\nefg", "hijklm"]],
    ["cuts a line of code that is too long", [code("abcdefghijklm")], ["abcdefghij", "klm"]],
    ["keeps the indent of code, and not its empty lines", [code("abcdefgh\n\n  ij")], ["abcdefgh", "  ij"]],
    ["begins without the space before it", [plain(" \n 0123")], ["0123"]],
    ["begins with the indent of code", [code("  a")], ["  a"]],
  ])("%s", (_what, runs, messages) => {
    expect(texts(runs, 10)).toEqual(messages);
  });

  test("has a hundred entities in a message at most", () => {
    const runs = Array.from({ length: 101 }, (): readonly Run[] => [
      { text: "x", styles: [style("bold")] },
      plain(" "),
    ]).flat();
    const chunks = splitRuns(runs, 4_000);
    expect(chunks.every(({ entities }) => entities.length <= 100)).toBe(true);
    expect(chunks.reduce((sum, { entities }) => sum + entities.length, 0)).toBe(101);
    expect(splitRuns(runs.slice(0, 200), 4_000).length).toBe(1);
  });

  test("has no entity that is longer than its message", () => {
    const bold = style("bold");
    const chunks = splitRuns([{ text: "0123  ", styles: [bold] }], 10);
    expect(chunks).toEqual([{ text: "0123", entities: [{ type: "bold", offset: 0, length: 4 }] }]);
    expect(splitRuns([plain("0123"), { text: "  ", styles: [bold] }], 10)).toEqual([{ text: "0123", entities: [] }]);
  });
});

describe("styled runs", () => {
  const [bold, italic, code, pre, quote] = [
    style("bold"),
    style("italic"),
    style("code"),
    style("pre"),
    style("blockquote"),
  ];
  test.each([
    [
      "an empty run is passed over",
      [
        { text: "", styles: [bold] },
        { text: "ab", styles: [italic] },
      ],
      ["italic 0+2"],
    ],
    [
      "a style goes over runs",
      [
        { text: "a", styles: [bold] },
        { text: "b", styles: [bold] },
      ],
      ["bold 0+2"],
    ],
    [
      "two styles of one kind stay two",
      [
        { text: "a", styles: [bold] },
        { text: "b", styles: [style("bold")] },
      ],
      ["bold 0+1", "bold 1+1"],
    ],
    [
      "a style inside another is closed first",
      [
        { text: "a", styles: [bold, italic] },
        { text: "b", styles: [bold] },
      ],
      ["bold 0+2", "italic 0+1"],
    ],
    [
      "an outer style that ends opens the inner one again",
      [
        { text: "a", styles: [bold, italic] },
        { text: "b", styles: [italic] },
      ],
      ["italic 0+1", "bold 0+1", "italic 1+1"],
    ],
    ["code holds nothing", [{ text: "a", styles: [bold, code] }], ["code 0+1"]],
    ["a block of code goes before code", [{ text: "a", styles: [code, pre] }], ["pre 0+1"]],
    ["code may stand in a quotation", [{ text: "a", styles: [quote, pre] }], ["pre 0+1", "blockquote 0+1"]],
    ["no style is inside itself", [{ text: "a", styles: [bold, style("bold")] }], ["bold 0+1"]],
  ])("%s", (_what, runs, expected) => {
    expect(shown(runs)).toEqual(expected);
  });

  test("keep the address of a link and the language of code, and only those that have one", () => {
    const link = { type: "text_link", url: "https://e.org" } as const;
    const js = { type: "pre", language: "js" } as const;
    expect(
      entitiesOf([
        { text: "a", styles: [link] },
        { text: "b", styles: [js] },
        { text: "c", styles: [bold] },
      ]),
    ).toEqual([
      { type: "text_link", offset: 0, length: 1, url: "https://e.org" },
      { type: "pre", offset: 1, length: 1, language: "js" },
      { type: "bold", offset: 2, length: 1 },
    ]);
  });

  test("are cut to the letter", () => {
    const runs = [plain("abc"), { text: "def", styles: [bold] }, plain("ghi")];
    const cut = (from: number, to: number) => cutRuns(runs, from, to).map(({ text }) => text);
    expect([cut(0, 9), cut(1, 5), cut(3, 6), cut(4, 4), cut(2, 3)]).toEqual([
      ["abc", "def", "ghi"],
      ["bc", "de"],
      ["def"],
      [],
      ["c"],
    ]);
  });
});
