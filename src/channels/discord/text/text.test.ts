/** Text for Discord: pieces that fit, blocks that stay blocks, nothing lost, whatever an agent writes. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MAX_MESSAGE_CHARS, renderMarkdown, renderMessage } from "./render.ts";
import { splitText } from "./split.ts";

const RUNS = 1_500;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;

/** Every block that a piece opens it also closes. */
function blocksAreClosed(piece: string): boolean {
  let open: string | null = null;
  for (const line of piece.split("\n")) {
    const found = FENCE.exec(line);
    if (!found) continue;
    const [, mark = "", info = ""] = found;
    if (open === null) open = mark;
    else if (info.trim() === "" && mark[0] === open[0] && mark.length >= open.length) open = null;
  }
  return open === null;
}

/** What people read, without blanks and without the lines that open and close blocks. */
function readable(text: string): string {
  return text
    .split("\n")
    .filter((line) => !FENCE.test(line))
    .join("")
    .replace(/\s/g, "");
}

const CHARACTERS = [
  "a",
  "Zz ",
  "ß",
  "日本",
  "👩‍👩‍👧‍👦",
  "🇩🇪",
  "e\u0301",
  "\u{1F600}",
  ". ",
  "! ",
  " ",
  "  ",
  "\n",
  "\n\n",
  "_",
  "*",
  "`x`",
];
const prose = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 300 }).map((parts) => parts.join(""));
const word = fc.integer({ min: 1, max: 700 }).map((count) => "x".repeat(count));
const emoji = fc.integer({ min: 1, max: 120 }).map((count) => "👩‍👩‍👧‍👦".repeat(count));
const code = fc
  .record({
    mark: fc.constantFrom("```", "````", "~~~"),
    info: fc.constantFrom("", "ts", "python title=a"),
    lines: fc.array(
      fc.constantFrom("const a = 1;", "", "    indented", "y".repeat(150), "`quoted`", "``` not a fence"),
      { maxLength: 60 },
    ),
    closed: fc.constantFrom(true, true, true, false),
  })
  .map(({ mark, info, lines, closed }) => `\n${mark}${info}\n${lines.join("\n")}\n${closed ? `${mark}\n` : ""}`);
const words = fc.array(fc.constantFrom("tea", "is", "at", "four", "süß", "日本", "👍🏽"), {
  minLength: 1,
  maxLength: 12,
});
const line = words.map((list) => list.join(" "));
const cells = fc.array(line, { minLength: 1, maxLength: 4 });
const table = fc.array(cells, { minLength: 1, maxLength: 12 }).map((rows) => {
  const [head = [], ...body] = rows.map((row) => `| ${row.join(" | ")} |`);
  return `\n\n${[head, "| --- | --- |", ...body].join("\n")}\n\n`;
});
/** What Discord does not know as markdown, and what it does. */
const marked = fc.oneof(
  table,
  line.map((text) => `\n#### ${text}\n`),
  line.map((text) => `\n# ${text}\n`),
  line.map((text) => `![${text}](https://example.org/picture)`),
  line.map((text) => `[${text}](https://example.org/page)`),
  line.map((text) => `\n- ${text}\n- **${text}**\n`),
  line.map((text) => `\n> ${text}\n`),
);
const message = fc
  .array(fc.oneof(prose, prose, word, emoji, code, marked, marked), { maxLength: 8 })
  .map((parts) => parts.join(""));

/** Letters, numbers and pictures alone: how something is marked may change, what it says may not. */
const said = (text: string): string => readable(text).replace(/[^\p{L}\p{M}\p{N}\p{Extended_Pictographic}]/gu, "");

describe("a text in pieces", () => {
  test(`fits, keeps its blocks whole and loses nothing, in ${RUNS} generated messages`, () => {
    fc.assert(
      fc.property(message, fc.constantFrom(MAX_MESSAGE_CHARS, 400, 200), (text, maxChars) => {
        const rendered = renderMarkdown(text);
        const pieces = splitText(rendered, maxChars);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(maxChars);
          expect(piece.trim()).not.toBe("");
          expect(piece.isWellFormed()).toBe(true);
        }
        // an unclosed block at the very end is the agent's own; everything before it is closed by us
        for (const piece of pieces.slice(0, -1)) expect(blocksAreClosed(piece)).toBe(true);
        expect(pieces.map(readable).join("")).toBe(readable(rendered));
        expect(said(rendered)).toBe(said(text));
      }),
      { numRuns: RUNS, seed: 7 },
    );
  }, 240_000);

  test("that went through all of it fits as well, whatever its form", () => {
    const formats = fc.constantFrom("markdown", "html", "plain");
    fc.assert(
      fc.property(message, formats, (text, format) => {
        for (const piece of renderMessage({ text, format } as Parameters<typeof renderMessage>[0])) {
          expect(piece.length).toBeLessThanOrEqual(MAX_MESSAGE_CHARS);
          expect(piece.trim()).not.toBe("");
        }
      }),
      { numRuns: 2_000, seed: 11 },
    );
  }, 240_000);

  test("never cuts a flag, although only its place in a row of flags says which two letters it is made of", () => {
    const flags = splitText("🇩🇪🇫🇷".repeat(60), 102);
    expect(flags.map((piece) => piece.length % "🇩🇪".length)).toEqual(flags.map(() => 0));
  });

  test("never cuts a character that people see as one", () => {
    fc.assert(
      fc.property(emoji, fc.integer({ min: 40, max: 300 }), (text, maxChars) => {
        for (const piece of splitText(text, maxChars)) expect(piece).toMatch(/^(?:👩‍👩‍👧‍👦)+$/u);
      }),
      { numRuns: 500, seed: 7 },
    );
  });

  test("is cut at a paragraph rather than a line, and at a line rather than a word", () => {
    expect(splitText("one two\n\nthree four\nfive", 18)).toEqual(["one two", "three four\nfive"]);
    expect(splitText("one two three\nfour five six", 20)).toEqual(["one two three", "four five six"]);
    expect(splitText("one two three four", 10)).toEqual(["one two", "three four"]);
  });

  test("opens a block again in the language it was in", () => {
    const pieces = splitText(`\`\`\`ts\n${"const a = 1;\n".repeat(10)}\`\`\``, 80);
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) expect(piece).toMatch(/^```ts\n[^`]+\n```$/);
  });

  test("of nothing is nothing", () => {
    expect(splitText("", 10)).toEqual([]);
    expect(splitText(" \n \n", 10)).toEqual([]);
  });
});

describe("markdown for Discord", () => {
  test("shows a table in columns", () => {
    expect(renderMarkdown("| a | long |\n|---|---|\n| 123 | b |")).toBe("```\na   │ long\n────┼─────\n123 │ b\n```");
  });

  test.each([
    ["Title\n=====\ntext", "# Title\ntext"],
    ["Other\n---\n\ntext", "## Other\n\ntext"],
    ["#### **Small** one", "**Small one**"],
    [
      "see [the docs][1] and [more].\n\n[1]: https://e.org/d\n[more]: https://e.org/m",
      "see [the docs](https://e.org/d) and [more](https://e.org/m).\n\n",
    ],
    ["a [x][2]\n\n[2]: javascript:alert(1)", "a [x][2]\n\n[2]: javascript:alert(1)"],
    ["Tom &amp; Jerry &copy; &#42;x&#42; `&amp;` &nonsense;", "Tom & Jerry © \\*x\\* `&amp;` &nonsense;"],
    ["> ```\n> [a][1] &amp;\n> ```\n> &amp;\n\n[1]: https://e.org", "> ```\n> [a][1] &amp;\n> ```\n> &\n\n"],
    ["a|b\n:-:|--:\n1|22|extra", "```\na │  b │\n──┼────┼──────\n1 │ 22 │ extra\n```"],
    ["- [x] done\n- [ ] open [1]", "- [x] done\n- [ ] open [1]"],
    ["<@1> <#2> <:a:3> <https://e.org>", "<@1> <#2> <:a:3> <https://e.org>"],
  ])("shows %p as %p", (source, shown) => {
    expect(renderMarkdown(source)).toBe(shown);
  });

  test("that is hostile costs little", () => {
    const walls = [
      "`a``".repeat(10_000),
      "**a ".repeat(10_000),
      "[a](".repeat(10_000),
      "`x` ".repeat(20_000),
      "> ".repeat(5_000),
    ];
    for (const wall of walls) {
      const before = process.cpuUsage();
      renderMessage({ text: `${wall}\n\n[1]: https://e.org` });
      expect([wall.slice(0, 8), process.cpuUsage(before).user < 2_000_000]).toEqual([wall.slice(0, 8), true]);
    }
  });

  test("leaves a single line with bars alone", () => {
    expect(renderMarkdown("| not a table |")).toBe("| not a table |");
  });

  test("makes small headings bold and pictures links, and touches nothing inside code", () => {
    expect(renderMarkdown("#### Small\n![a cat](https://x.test/c.png)")).toBe(
      "**Small**\n[a cat](https://x.test/c.png)",
    );
    const code = "```\n#### Small\n| a | b |\n|---|---|\n```";
    expect(renderMarkdown(code)).toBe(code);
  });

  test("that is meant as plain text is shown letter by letter", () => {
    expect(renderMessage({ text: "*a* <@1> [b](c)", format: "plain" })).toEqual(["\\*a\\* \\<@1\\> \\[b\\]\\(c\\)"]);
  });

  test("that was written as HTML keeps its emphasis", () => {
    expect(renderMessage({ text: "<b>a</b> &lt;i&gt; <script>x</script>", format: "html" })).toEqual(["**a** <i> x"]);
  });
});
