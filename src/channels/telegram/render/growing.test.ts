/** A preview while an answer is being written: at every character it is a message Telegram takes, and it only ever grows. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { faultOf } from "../../../testing/telegram/entity-rules.ts";
import { readable } from "../../kit/index.ts";
import { renderText } from "./render.ts";

const bare = (text: string): string => text.replaceAll(/\s+/g, "");
const shown = (source: string): string => {
  const words = readable(source);
  return words.trim() === ""
    ? ""
    : renderText({ text: words })
        .map(({ text }) => text)
        .join("\n");
};

const ANSWERS: readonly [what: string, source: string][] = [
  ["emphasis", "This is **very bold** and *a bit __deeper__* and ~~gone~~ now, ||hidden|| too."],
  ["code in a line", "Run `npm test` or ``a ` b`` and see."],
  ["links", "See [the docs](https://example.org/a_(b)?x=1) or <https://example.org/x_y> at once."],
  ["lists", "Items:\n- one\n- **two** more\n  - deeper\n- [x] done\n- [ ] open\n\n1. first\n2. second"],
  ["headings", "# **Big**\n\nText\n\n### Small `x`\n- item"],
  ["underlined headings", "Title\n=====\n\nText here\n\nOther\n-----\n\nEnd"],
  ["code blocks", "Look:\n\n```ts\nconst a = `x`;\n\n// **no**\n```\n\nDone."],
  ["code in a quotation", "> He said:\n> ```js\n> let a = 1;\n> ```\n> Really.\n\nYes."],
  ["entities and escapes", "Tom &amp; Jerry &lt;3 \\*stars\\* &copy; 2026 & more"],
  ["rules", "One\n\n---\n\nTwo\n\n***\n\nThree"],
  ["numbers and signs", "2 * 3 = 6 and 5*4 is 20. snake_case_name stays. a_b c_d"],
];

describe("an answer with", () => {
  test.each(ANSWERS)("%s only ever grows while it is written", (_what, source) => {
    const whole = bare(shown(source));
    let before = "";
    for (let end = 1; end <= source.length; end++) {
      const now = bare(shown(source.slice(0, end)));
      expect([source.slice(0, end), whole.startsWith(now) || now]).toEqual([source.slice(0, end), true]);
      expect([source.slice(0, end), now.length >= before.length || before]).toEqual([source.slice(0, end), true]);
      before = now;
    }
  });

  test.each(ANSWERS)("%s is shown in its preview as in the end, once it is whole", (_what, source) => {
    expect(renderText({ text: readable(`${source}\n\nmore words`) })).toEqual(
      renderText({ text: `${source}\n\nmore words` }),
    );
  });
});

test("a table waits for its first row", () => {
  const source = "Prices:\n\n| a | b |\n|---|--:|\n| 1 | 2 |";
  const views = Array.from({ length: source.length }, (_, at) => shown(source.slice(0, at + 1)));
  expect(views.filter((view) => view.includes("|"))).toEqual([]);
  expect(views.at(-1)).toContain("a │ b\n──┼──\n1 │ 2");
});

test("any beginning of any text is a message that Telegram takes, or nothing yet", () => {
  const unit = fc.constantFrom(
    ...["*", "**", "_", "`", "```", "\n```ts\n", "[", "](https://e.org/", ")", "~~", "||", "|", "|-|-|", ">", "\n> "],
    ...[
      "\n",
      "\n\n",
      " ",
      "a",
      "word ",
      "😀",
      "👩‍👩‍👧",
      "\\",
      "# ",
      "- ",
      "1. ",
      "&amp;",
      "<https://e.org",
      ">",
      "---",
      "===",
    ],
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), (units) => {
      const words = readable(units.join(""));
      const faults =
        words.trim() === "" ? [] : renderText({ text: words }).map(({ text, entities }) => faultOf(text, entities));
      expect(faults.filter((fault) => fault !== null)).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});
