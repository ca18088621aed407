import { expect, test } from "bun:test";
import { markedWords } from "./marked-words.ts";

const shown = (text: string, search: string) =>
  markedWords(text, search)
    .map((part) => (part.isFound ? `[${part.text}]` : part.text))
    .join("");

test("words that were searched for are marked where they begin a word, in any case, with or without accents", () => {
  const cases = [
    ["It is a Norwegian Blue.", "norw blue", "It is a [Norwegian] [Blue]."],
    ["Café, cafeteria, decaf", "cafe", "[Café], [cafeteria], decaf"],
    ["ما حال الطقس؟", "الطقس", "ما حال [الطقس]؟"],
    ["a+b (c)", "(c", "a+b ([c])"],
    ["nothing to mark", "  ", "nothing to mark"],
    ["", "word", ""],
  ] as const;
  for (const [text, search, marked] of cases) expect(shown(text, search)).toBe(marked);
  for (const [text, search] of cases)
    expect(
      markedWords(text, search)
        .map((part) => part.text)
        .join(""),
    ).toBe(text);
});
