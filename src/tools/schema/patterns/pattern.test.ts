/** Patterns mean what JavaScript means by them, cost what their text costs, and are refused when that cannot be promised. */
import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { compileSchema } from "../compile.ts";
import { compilePattern, PATTERN_LIMITS } from "./pattern.ts";

function safe(source: string) {
  const compiled = compilePattern(source);
  if (compiled.kind === "refused") throw new Error(`${source} ${compiled.because}`);
  return compiled.pattern;
}

const SAME_IN_BOTH = [
  ...[
    "\\s",
    "\\S",
    "[\\s]",
    "[^\\s]",
    "[\\S]",
    "[^\\S]",
    ".",
    "\\w",
    "\\W",
    "\\d",
    "\\D",
    "[^]",
    "[]",
    "[[]",
    "[[:a]",
    "[[:alpha:]",
    "[\\b]",
    "[.]",
  ],
  ...[
    "\\u0041",
    "\\u{41}",
    "\\x41",
    "\\cA",
    "\\0",
    "\\/",
    "\\.",
    "[\\-a]",
    "[a\\]]",
    "[{1}]",
    "\\p{L}",
    "\\P{L}",
    "\\p{Lu}",
  ],
  ...[
    "\\p{Script=Greek}",
    "\\p{sc=Greek}",
    "\\p{General_Category=Nd}",
    "\\uD83D\\uDE00",
    "(?<n>a)",
    "(?:a|b)",
    "a{1,2}",
    "a{1,}",
  ],
  ...["a$", "^a", "\\ba\\b", "\\Ba", "a*?", "[a-c]", "[^a-c]", "(?i:A)"],
];
const CHARACTERS = Array.from({ length: 0x3100 }, (_, code) => String.fromCodePoint(code)).concat(
  "\ufeff",
  "😀",
  "é",
  "\u{10ffff}",
);
const TEXTS = [...CHARACTERS, "", "aa", "aaa", "a\n", "\na", "a b", "xay", "a-", "]", "αβγ", "{1}"];

describe("a pattern", () => {
  test.each(SAME_IN_BOTH)("%p means the same as in JavaScript, for every character", (source) => {
    const [ours, theirs] = [safe(`^(?:${source})$`), new RegExp(`^(?:${source})$`, "u")];
    expect(TEXTS.filter((text) => ours.test(text) !== theirs.test(text))).toEqual([]);
  });

  test("put together by chance means the same as in JavaScript", () => {
    const part = fc.constantFrom("a", "b", ".", "\\s", "[ab]", "[^a]", "(?:a|bc)", "\\w", "\\d", "^", "$", "\\b");
    const times = fc.constantFrom("", "", "?", "*", "+", "{2}", "{0,2}");
    const piece = fc.tuple(part, times).map(([one, many]) => (/[$^]|\\b/.test(one) ? one : one + many));
    const source = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "1", "\n", "\u2028"), maxLength: 8 });
    fc.assert(
      fc.property(source, text, (pattern, value) => safe(pattern).test(value) === new RegExp(pattern, "u").test(value)),
      { numRuns: 2_000, seed: 7 },
    );
  });

  test.each<[source: string, size: number]>([
    ["", 1],
    ["abc", 3],
    ["a(bc)d", 4],
    ["x(ab){3}", 7],
    ["(a(bc){2}){3}", 15],
    ["[a-z]{5}", 5],
    ["[\\]ab]{2}", 2],
    ["[{3}]{2}", 2],
    ["a{2,}", 3],
    ["a{2,4}b", 5],
    ["\\u{1F600}{3}", 3],
  ])("%p has %p parts when its repetitions are written out", (source, size) => {
    expect(safe(source).size).toBe(size);
  });

  test.each([
    ["(?=a)b", "it looks ahead or behind"],
    ["(?!a)b", "it looks ahead or behind"],
    ["(?<=a)b", "it looks ahead or behind"],
    ["(?<!a)b", "it looks ahead or behind"],
    ["(a)\\1", "it refers back to what it matched"],
    ["(?<n>a)\\k<n>", "it refers back to what it matched"],
    ["(", "is not a valid regular expression"],
    ["(?i)a", "is not a valid regular expression"],
    ["a{2,1}", "is not a valid regular expression"],
    ["\\-", "is not a valid regular expression"],
    ["a{1001}", "invalid repeat count"],
    ["((a{20}){20}){20}", "too large when its repetitions are written out"],
    [`(?:${"ab".repeat(100)}){100}`, "too large when its repetitions are written out"],
    ["a{900}b{900}c{900}", "too large when its repetitions are written out"],
    ["\\p{L}{601}", "too large when its repetitions are written out"],
    ["\\p{L}".repeat(PATTERN_LIMITS.maxClasses + 1), "has more than 20 character classes"],
    ["a".repeat(PATTERN_LIMITS.maxChars + 1), "is longer than 2000 characters"],
  ])("%p is refused with its reason", (source, because) => {
    const compiled = compilePattern(source);
    expect(compiled.kind === "refused" ? compiled.because : "taken").toContain(because);
  });
});

const EVIL = [
  "^(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "(x+x+)+y",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "^(?:a?){30}a{30}$",
  "(.*)*b$",
];

describe("a pattern made to hang a program", () => {
  /** JavaScript needs about a second for each of these checks before it gives up. */
  test.each(EVIL)(
    "%s is checked dozens of times within the limit of this test",
    (source) => {
      const compiled = compileSchema({ type: "object", properties: { text: { type: "string", pattern: source } } });
      if (compiled.kind === "quarantined") throw new Error(compiled.because);
      let checks = 0;
      for (; checks < 24; checks++) compiled.check({ text: `${"a".repeat(40)}!${checks}` });
      expect(checks).toBe(24);
    },
    5_000,
  );

  test("is not even once given to JavaScript's own engine", () => {
    const ran: string[] = [];
    const watch = (name: "test" | "exec") => {
      const real = RegExp.prototype[name];
      return spyOn(RegExp.prototype, name).mockImplementation(function (this: RegExp, text: string) {
        ran.push(this.source);
        return Reflect.apply(real, this, [text]);
      });
    };
    using _test = watch("test");
    using _exec = watch("exec");
    const schema = {
      type: "object",
      properties: {
        text: { pattern: "^(a+)+$" },
        map: { patternProperties: { "^(b+)+$": {} }, additionalProperties: false },
      },
      additionalProperties: false,
    };
    const compiled = compileSchema(schema);
    if (compiled.kind !== "ok") throw new Error(compiled.because);
    // one by one: the first thing that is wrong ends a check
    for (const value of [{ text: "aaaa!" }, { map: { "bb!": 1 } }, { text: "a", map: { bb: 1 } }, { more: 1 }])
      compiled.check(value);
    expect(ran.length).toBeGreaterThan(0);
    expect(ran.filter((source) => source.includes("(a+)+") || source.includes("(b+)+"))).toEqual([]);
  });

  test("finds what JavaScript's engine gives up on", () => {
    expect(safe("^(?:(a+)+b|a+!)$").test(`${"a".repeat(40)}!`)).toBe(true);
  });
});
