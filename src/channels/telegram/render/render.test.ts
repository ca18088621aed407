/** What people see: nothing they were told is lost, no message is too long, no character, code block or entity is broken. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { faultOf } from "../../../testing/telegram/entity-rules.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { MAX_TEXT_UNITS, renderCaption, renderText } from "./render.ts";
import { type Run, textOf } from "./runs.ts";
import { type Chunk, splitRuns } from "./split.ts";

const show = (text: string): Chunk => {
  const [first] = renderText({ text });
  if (!first) throw new Error("nothing to show");
  return first;
};
const marked = ({ text, entities }: Chunk): readonly string[] =>
  entities.map(({ type, offset, length }) => `${type}:${text.slice(offset, offset + length)}`);

describe("markdown", () => {
  test.each([
    ["**bold** and *italic*", "bold and italic", ["bold:bold", "italic:italic"]],
    ["***both***", "both", ["bold:both", "italic:both"]],
    ["`**not bold**`", "**not bold**", ["code:**not bold**"]],
    ["**a `b` c**", "a b c", ["bold:a ", "code:b", "bold: c"]],
    ["snake_case_name and 2 * 3", "snake_case_name and 2 * 3", []],
    ["a * b * c", "a * b * c", []],
    ["[docs](https://example.org/a_(b))", "docs", ["text_link:docs"]],
    ["[odd](javascript:alert(1))", "[odd](javascript:alert(1))", []],
    ["# Title\ntext", "Title\ntext", ["bold:Title"]],
    ["- one\n- [x] two", "• one\n☑ two", []],
    ["> said **so**\n> twice", "said so\ntwice", ["blockquote:said so\ntwice", "bold:so"]],
    ["```ts\nlet a = 1;\n```\nafter", "let a = 1;\nafter", ["pre:let a = 1;"]],
    ["```\nnever closed", "never closed", ["pre:never closed"]],
    ["||secret|| ~~gone~~", "secret gone", ["spoiler:secret", "strikethrough:gone"]],
    ["\\*stars\\*", "*stars*", []],
    ["** a **", "** a **", []],
    ["👩‍👩‍👧 **x**", "👩‍👩‍👧 x", ["bold:x"]],
    ["## **Bold** title", "Bold title", ["bold:Bold title"]],
    [
      "> said:\n> ```js\n> let a = 1;\n> ```\n> so",
      "said:\nlet a = 1;\nso",
      ["blockquote:said:\nlet a = 1;\nso", "pre:let a = 1;"],
    ],
    ["[x](<https://e.org/a b>)", "x", ["text_link:x"]],
    ["[x](<a b>)", "[x](<a b>)", []],
    ["Title\n=====\ntext", "Title\ntext", ["bold:Title"]],
    ["Other\n-----\ntext", "Other\ntext", ["bold:Other"]],
    [
      "see [the docs][1] and [more]\n\n[1]: https://e.org 'T'\n[more]: https://e.org/m",
      "see the docs and more",
      ["text_link:the docs", "text_link:more"],
    ],
    ["see <https://e.org/x_y_z> or ann@e.org", "see https://e.org/x_y_z or ann@e.org", []],
    ["https://e.org/a_b_c/*x*", "https://e.org/a_b_c/*x*", []],
    [
      "Tom &amp; Jerry &lt;3 &copy; &#x1F600; `&amp;` &nonsense;",
      "Tom & Jerry <3 © 😀 &amp; &nonsense;",
      ["code:&amp;"],
    ],
    ["a <b>c</b> List<String>", "a <b>c</b> List<String>", []],
    ["~5 to ~10 min, ~~gone~~", "~5 to ~10 min, gone", ["strikethrough:gone"]],
    ["1. one\n2. two\n   - deep\n     - deeper", "1. one\n2. two\n  • deep\n    • deeper", []],
    ["3. three\n\n   more\n\n4. four", "3. three\n\nmore\n\n4. four", []],
    ["![A heron](https://e.org/h.png)", "A heron", ["text_link:A heron"]],
    [
      "**bold with [a link](https://e.org) inside**",
      "bold with a link inside",
      ["bold:bold with a link inside", "text_link:a link"],
    ],
    ["- a\n\n      code", "• a\n\ncode", ["pre:code"]],
    ["line one\nline two  \nline three", "line one\nline two\nline three", []],
    ["a\n\n\n\nb", "a\n\nb", []],
    ["***", "———", []],
  ])("%p is shown as %p", (source, text, entities) => {
    const shown = show(source);

    expect({ text: shown.text, marks: marked(shown) }).toEqual({ text, marks: entities });
  });

  test("a table has its columns under each other, aligned as it says, whatever is in its cells", () => {
    const table = "|Name|Price|Note|\n|:--|--:|:-:|\n|**Tea**|1.50|日本|\n|a `b`|12|[x](https://e.org)|";
    const text = [
      "Name │ Price │       Note",
      "─────┼───────┼──────────────────",
      "Tea  │  1.50 │       日本",
      "a b  │    12 │ x (https://e.org)",
    ].join("\n");
    const shown = show(`Look:\n\n${table}\n\nend`);
    expect(shown.text.split("\n").map((line) => line.trimEnd())).toEqual(["Look:", "", ...text.split("\n"), "", "end"]);
    expect(shown.entities.map(({ type }) => type)).toEqual(["pre"]);
  });

  test("an address with spaces in it is made whole", () => {
    expect(show("[x](<https://e.org/a b>)").entities).toEqual([
      { type: "text_link", offset: 0, length: 1, url: "https://e.org/a%20b" },
    ]);
  });

  test("a link that nobody should press is shown as it was written", () => {
    for (const link of [
      "[a](javascript:alert(1))",
      "[a](file:///etc/passwd)",
      "[a](/relative)",
      "[a](data:text/html,x)",
    ])
      expect([link, show(link)]).toEqual([link, { text: link, entities: [] }]);
  });

  test("nesting beyond reason, and texts of any length, cost little", () => {
    const walls = [
      ...["> ", "- ", "1. ", "* ", "+ > "].map((mark) => `${mark.repeat(5_000)}x`),
      ...["word ".repeat(40_000), "a\n".repeat(20_000), "_a".repeat(20_000), "#".repeat(50_000), "![[".repeat(10_000)],
      Array.from({ length: 300 }, (_, at) => `${" ".repeat(at * 2)}- x`).join("\n"),
      "```\n".repeat(10_000),
      "| a ".repeat(3_000) + "|\n" + "|-".repeat(3_000) + "|\n" + "| b ".repeat(3_000),
    ];
    for (const wall of walls) {
      const began = process.cpuUsage();
      const chunks = renderText({ text: wall });
      const ms = process.cpuUsage(began).user / 1_000;
      expect([wall.slice(0, 8), chunks.length > 0, ms < 2_000]).toEqual([wall.slice(0, 8), true, true]);
    }
  });

  test("a wall of stars costs little", () => {
    const began = process.cpuUsage();
    for (const wall of ["*".repeat(50_000), "**a ".repeat(10_000), "[a](".repeat(10_000), "`a``".repeat(10_000)])
      renderText({ text: wall });
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
  });
});

test("the tags of HTML become entities, unknown ones stay readable", () => {
  const runs = renderHtml('<b>a &lt; b</b> <x>c</x> <a href="https://e.org">d</a><br><pre>e</pre>');
  const [chunk] = splitRuns(runs, MAX_TEXT_UNITS);
  expect(chunk?.text).toBe("a < b <x>c</x> d\ne");
  expect(chunk && marked(chunk)).toEqual(["bold:a < b", "text_link:d", "pre:e"]);
});

test("a caption that is too long is none", () => {
  expect(renderCaption({ text: "**short**" })?.text).toBe("short");
  expect(renderCaption({ text: "x".repeat(1_025) })).toBeNull();
});

const EMOJI = ["👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "é", "e\u0301", "🇩🇪", "😀", "한", "👨🏿‍❤️‍💋‍👨🏻", "नि"];
const LETTERS = ["a", "be", "the", "wolf", "tides", "gather", "slowly", "tonight", "upstream"];
/** Chosen, not made letter by letter: what matters is where words end, and ten thousand messages have to be quick to make. */
const word = fc.constantFrom(...LETTERS, ...LETTERS, ...EMOJI, "OK!", "A1,", "3.14;", "WHY?");
const words = fc.array(word, { minLength: 1, maxLength: 40 }).map((list) => list.join(" "));
const inline: fc.Arbitrary<string> = fc.oneof(
  words,
  words.map((text) => `**${text}**`),
  words.map((text) => `*${text}*`),
  words.map((text) => `~~a **${text}** b~~`),
  words.map((text) => `\`${text}\``),
  words.map((text) => `[${text}](https://example.org/x)`),
  fc.string({ unit: "grapheme", maxLength: 30 }),
);
const paragraph = fc.array(inline, { minLength: 1, maxLength: 12 }).map((list) => list.join(" "));
const code = fc
  .array(fc.constantFrom("", "  ", "let a = b;", "  call(a, (b) => {});", "}", "a".repeat(40)), {
    minLength: 1,
    maxLength: 30,
  })
  .map((lines) => `\`\`\`ts\n${lines.join("\n")}\nend\n\`\`\``);
const block = fc.oneof(
  { weight: 5, arbitrary: paragraph },
  { weight: 2, arbitrary: code },
  { weight: 1, arbitrary: paragraph.map((text) => `# ${text.replaceAll("\n", " ")}`) },
  {
    weight: 1,
    arbitrary: fc
      .array(paragraph, { minLength: 1, maxLength: 3 })
      .map((list) => list.map((one) => `> ${one}`).join("\n")),
  },
  {
    weight: 1,
    arbitrary: fc.array(words, { minLength: 1, maxLength: 6 }).map((list) => list.map((one) => `- ${one}`).join("\n")),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "```",
      "**",
      "*a **b* c**",
      "> ",
      "|a|b|\n|-|-|\n|1|2|",
      "| **a** | `b` |\n|:-:|--:|\n| [x](https://e.org) | 日本 |\n| ~~c~~ | |",
      "Title **x**\n=====\ntext",
      "> a\n> > b\n> > ```js\n> > let a;\n> > ```\n> - c\n>   1. **d**",
      "see [a][1], [b][2] and <https://e.org>\n\n[1]: https://e.org/x\n[2]: javascript:x",
      "## **Bold** `code` [l](<https://e.org/a b>) &amp; &copy;",
      "- a\n\n  b\n\n      code\n- [x] c\n  > d",
      "||a **b** c|| ***d*** ~~e _f_~~",
      Array.from({ length: 120 }, (_, at) => `**b${at}** _i_`).join(" "),
      "_".repeat(90),
      "👩‍".repeat(30),
    ),
  },
);
const message = fc.array(block, { minLength: 1, maxLength: 12 }).map((list) => list.join("\n\n"));

const bare = (text: string): string => text.replaceAll(/\s+/g, "");

/** Null, or what is wrong with these messages. */
function wrong(source: string, maxUnits: number): string | null {
  const runs = renderMarkdown(source.toWellFormed());
  const whole = textOf(runs);
  const chunks = splitRuns(runs, maxUnits);
  if (bare(whole) !== bare(chunks.map(({ text }) => text).join(""))) return "text is lost";
  for (const { text, entities } of chunks) {
    const fault = faultOf(text, entities, maxUnits);
    if (fault && text.trim() !== "") return fault;
  }
  return edgesWrong(whole, chunks) ?? fencesWrong(runs, chunks, maxUnits);
}

function edgesWrong(whole: string, chunks: readonly Chunk[]): string | null {
  if (chunks.length < 2) return null;
  const starts = new Set(
    [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(whole)].map((one) => one.index),
  );
  let at = 0;
  for (const { text } of chunks) {
    const from = whole.indexOf(text, at);
    if (from < 0) return "a message is not in the text";
    if (!starts.has(from)) return `a message begins inside a character at ${from}`;
    at = from + text.length;
  }
  return null;
}

function fencesWrong(runs: readonly Run[], chunks: readonly Chunk[], maxUnits: number): string | null {
  const blocks = runs.filter(({ styles }) => styles.some(({ type }) => type === "pre")).map(({ text }) => text);
  const shown = chunks.flatMap(({ text, entities }) =>
    entities.filter(({ type }) => type === "pre").map(({ offset, length }) => text.slice(offset, offset + length)),
  );
  for (const one of blocks)
    if (one.length <= maxUnits && !shown.some((text) => bare(text) === bare(one))) return "a code block is split";
  return null;
}

test("a code block at the beginning stays whole when the text after it has too many entities for one message", () => {
  const code = ["", "first line", ...Array.from({ length: 90 }, (_, n) => `call(${n});`), "end"].join("\n");
  const bold = Array.from({ length: 120 }, (_, n) => `**b${n}** _i_`).join(" ");
  expect(wrong(`\`\`\`\n${code}\n\`\`\`\n\n${bold}`, MAX_TEXT_UNITS)).toBeNull();
});

describe("any markdown message", () => {
  test("is shown whole, in valid messages that cut no character and no code block (1,000 messages)", () => {
    fc.assert(
      fc.property(message, fc.constantFrom(4_096, 4_096, 1_024, 300), (source, maxUnits) => {
        expect(wrong(source, maxUnits)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  }, 280_000);

  test("keeps every word of its source, in order", () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (said) => {
        const source = said
          .map((text, at) => [`**${text}**`, `- ${text}`, `> *${text}*`, text, `\`${text}\``][at % 5])
          .join("\n\n");
        const shown = renderText({ text: source })
          .map(({ text }) => text)
          .join("\n");
        const wanted = said.join(" ");
        expect(bare(shown).replaceAll("•", "")).toBe(bare(wanted));
      }),
      { numRuns: 1_000 },
    );
  }, 60_000);

  test("is shown even when it is nothing but noise", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("*", "_", "`", "[", "](", ")", "~", "|", ">", "\n", " ", "a", "😀", "\\"),
          maxLength: 400,
        }),
        (source) => {
          fc.pre(source.trim() !== "");
          expect(wrong(source, 64)).toBeNull();
        },
      ),
      { numRuns: 5_000 },
    );
  }, 60_000);
});

test("a code block longer than a message is cut between lines and stays code", () => {
  const line = "const value = compute(1234567890);";
  const chunks = renderText({
    text: `Here:\n\n\`\`\`ts\n${Array.from({ length: 300 }, () => line).join("\n")}\n\`\`\`\nDone.`,
  });
  expect(chunks.length).toBeGreaterThan(2);
  for (const { text, entities } of chunks.slice(1, -1)) {
    expect(entities).toEqual([{ type: "pre", offset: 0, length: text.length, language: "ts" }]);
    expect(text.split("\n").every((one) => one === line)).toBe(true);
  }
});
