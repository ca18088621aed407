/** Cutting between characters as people see them. */
import { expect, test } from "bun:test";
import { wholeCharacters } from "./whole-characters.ts";

const FAMILY = "👩‍👩‍👧‍👦"; // 11 units
const FLAGS = "🇩🇪🇫🇷".repeat(40); // 4 units each, and nothing but their order says which two belong together
const TALL = `a${"\u0301".repeat(200)}`;

test.each([
  ["a place between letters stays", "hello", { from: 0, wanted: 3 }, 3],
  ["the end of the text stays the end", "hello", { from: 0, wanted: 9 }, 5],
  ["an emoji of several is not cut", `ab${FAMILY}cd`, { from: 0, wanted: 6 }, 2],
  ["an emoji that just fits is kept", `ab${FAMILY}cd`, { from: 0, wanted: 13 }, 13],
  ["a flag is not cut, however many stand before it", FLAGS, { from: 0, wanted: 302 }, 300],
  ["a piece further on is counted from its own beginning", `${FAMILY}ab${FAMILY}`, { from: 11, wanted: 16 }, 13],
  ["a letter with more accents than a piece has room for is cut", TALL, { from: 0, wanted: 100 }, 100],
  ["a cut character is not cut inside a code point", FAMILY, { from: 0, wanted: 4 }, 3],
  ["a code point whose second half is the first there is is not cut", "\u{10000}\u{10000}", { from: 0, wanted: 1 }, 2],
  ["a code point whose second half is the last there is is not cut", "\u{103ff}\u{103ff}", { from: 0, wanted: 1 }, 2],
  ["one code point is taken whole, although there is room for half of it", "😀😀", { from: 0, wanted: 1 }, 2],
])("%s", (_rule, text, { from, wanted }, at) => {
  expect(wholeCharacters(text, from, wanted)).toBe(at);
});
