/** Tables and plain words of Markdown, and long texts that are read in sections: each case to the letter. */
import { describe, expect, test } from "bun:test";
import type { Token, Tokens } from "marked";
import { markdownTokens } from "./lexer.ts";
import { tableText } from "./plain-text.ts";

const tableOf = (source: string): string => {
  const table = markdownTokens(source).find(({ type }) => type === "table");
  return tableText(table as Tokens.Table);
};
const types = (tokens: readonly Token[]): readonly string[] =>
  tokens.map(({ type }) => type).filter((type) => type !== "space");

describe("a table in letters of equal width", () => {
  test("has its columns aligned as it says", () => {
    const table = "| left | center | right | none |\n|:--|:-:|--:|---|\n| a | b | c | d |";
    expect(tableOf(table).split("\n")).toEqual([
      "left │ center │ right │ none",
      "─────┼────────┼───────┼─────",
      "a    │   b    │     c │ d",
    ]);
  });

  test.each([
    ["a link", "[docs](https://e.org)", "docs (https://e.org)"],
    ["a link that says its address", "<https://e.org>", "https://e.org"],
    ["an address to write to", "<ann@e.org>", "ann@e.org"],
    ["a link without words", "[](https://e.org)", "https://e.org"],
    ["a picture", "![a heron](https://e.org/h.png)", "a heron (https://e.org/h.png)"],
    ["code", "`a  &amp;`", "a &amp;"],
    ["an escape", "\\*a", "*a"],
    ["marks in marks", "**a *b***", "a b"],
    ["an entity", "a &amp; b", "a & b"],
    ["a bar", "a \\| b", "a | b"],
  ])("says %s without marks", (_what, cell, text) => {
    const [, , row] = tableOf(`| h |\n|---|\n| ${cell} |`).split("\n");
    expect(row).toBe(text);
  });

  test("keeps cells that have no column, and rows that are short", () => {
    expect(tableOf("| a |\n|---|\n| 1 | 2 | x\\|y |\n| 3 |").split("\n")).toEqual([
      "a │   │",
      "──┼───┼─────",
      "1 │ 2 │ x\\|y",
      "3 │   │",
    ]);
  });

  test("counts the places that a character takes on the screen", () => {
    expect(tableOf("| 中文 | b |\n|---|---|\n| a | c |").split("\n")).toEqual(["中文 │ b", "─────┼──", "a    │ c"]);
  });
});

describe("a long text", () => {
  const words = `${"word ".repeat(4_000)}\n\n`; // longer than a section
  test("is read in sections that end at empty lines outside of code", () => {
    const code = `\`\`\`\n${"code\n\n".repeat(4_000)}\`\`\`\n`;
    expect(types(markdownTokens(`${words}${code}\n# after`))).toEqual(["paragraph", "code", "heading"]);
  });

  test.each([
    ["~~~", "```"],
    ["````", "```"],
    ["```", "~~~"],
  ])("with a block of %s is not ended by %s", (fence, other) => {
    const code = `${fence}\n${other}\n${"code\n\n".repeat(4_000)}${fence}\n`;
    expect(types(markdownTokens(`${words}${code}\n# after`))).toEqual(["paragraph", "code", "heading"]);
  });

  test("of one paragraph is read in pieces that end between words, and inside no character", () => {
    const said = (tokens: readonly Token[]): string =>
      tokens.map((one) => ("tokens" in one && one.tokens ? said(one.tokens) : one.raw)).join("");
    for (const source of ["word ".repeat(5_000).trim(), "a".repeat(20_000), `a${"😀".repeat(10_000)}`])
      expect(said(markdownTokens(source))).toBe(source);
    const bold = `${"x".repeat(8_190)} **bold** ${"y".repeat(100)}`;
    const [paragraph] = markdownTokens(bold);
    const kinds = types((paragraph as Tokens.Paragraph).tokens);
    expect(kinds).toContain("strong");
  });
});

test("a wall of quotations is text from the twenty-fourth level on", () => {
  const depth = (levels: number): number => {
    let count = 0;
    let tokens: readonly Token[] = markdownTokens(`${"> ".repeat(levels)}deep`);
    for (let next = tokens[0]; next?.type === "blockquote"; next = tokens[0]) {
      count++;
      tokens = (next as Tokens.Blockquote).tokens;
    }
    return count;
  };
  expect([depth(23), depth(24), depth(25), depth(60)]).toEqual([23, 24, 24, 24]);
});

test.each([
  ["||a||", true],
  ["||a b||", true],
  ["|| a||", false],
  ["||a ||", false],
  ["||a|||", false],
  ["||a\nb||", false],
])("%p is a spoiler: %p", (source, isSpoiler) => {
  const [paragraph] = markdownTokens(source);
  expect(types((paragraph as Tokens.Paragraph).tokens ?? []).includes("spoiler")).toBe(isSpoiler);
});

test("a single tilde is no line through a word, and HTML is text", () => {
  const [paragraph] = markdownTokens("~5~ ~~gone~~ <b>x</b>");
  expect(types((paragraph as Tokens.Paragraph).tokens).filter((type) => type === "del" || type === "html")).toEqual([
    "del",
  ]);
});
