/** Many secrets in one pass, and text in pieces: no cut shows a secret, and nothing is held back that cannot become one. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { secret } from "../../kit/secret.ts";
import { createRedactor } from "./redact.ts";
import { createSecretMatcher, MASK } from "./secret-matcher.ts";

const redactorOf = (...values: readonly string[]) => {
  const redactor = createRedactor();
  for (const value of values) redactor.add(secret(value));
  return redactor;
};
const inPieces = (mask: ReturnType<typeof redactorOf>["mask"], pieces: readonly string[]): readonly string[] => {
  const stream = mask.stream();
  return [...pieces.map((piece) => stream.push(piece)), stream.flush()];
};

describe("a matcher of secrets", () => {
  test.each([
    [["abcdefgh"], "xxabcdefghyy", `xx${MASK}yy`],
    [["abcdefgh"], "abcdefgabcdefgh", `abcdefg${MASK}`],
    [["abcdefgh", "abcdefghijkl"], "abcdefghijkl", MASK],
    [["abcdefgh", "abcdefghijkl"], "abcdefghijkx", `${MASK}ijkx`],
    [["abcdefgh", "efghijklmnop"], "abcdefghijklmnop", `${MASK}ijklmnop`],
    [["aaaaaaaa"], "a".repeat(20), `${MASK}${MASK}aaaa`],
    [["abcdefgh"], "abcdefg", "abcdefg"],
    [["abcdefgh"], "", ""],
    [["schlüssel-🔑-1"], "der schlüssel-🔑-1 ist", `der ${MASK} ist`],
    [["too-few"], "too-few", "too-few"],
  ])("with %j makes of %j %j", (forms, text, clean) => {
    expect(createSecretMatcher(forms).scan(text, false)).toEqual({ clean, held: "" });
  });

  test.each([
    ["nothing of it is a beginning", "hello world. ", ""],
    ["its last three characters could be the first: too few to hold", "that is abc", ""],
    ["its last four could be the first", "that is abcd", "abcd"],
    ["its end could be the first seven", "see abcdefg", "abcdefg"],
    ["its end could be more than a key", "see abcdefghij", "abcdefghij"],
    ["the earliest beginning counts", "abcdabcdabcd", "abcd"],
    ["a beginning in the middle that went wrong", "abcdefgx", ""],
  ])("holds back of a text that may go on, when %s: %j", (_when, text, held) => {
    expect(createSecretMatcher(["abcdefghijkl"]).scan(text, true)).toEqual({
      clean: text.slice(0, text.length - held.length),
      held,
    });
  });

  test("waits for the longer of two secrets that begin alike, and masks the shorter when it does not come", () => {
    const { mask } = redactorOf("abcdefgh", "abcdefghijkl");
    expect(inPieces(mask, ["abcdefgh", "ijkl"])).toEqual(["", MASK, ""]);
    expect(inPieces(mask, ["abcdefgh", "ijx"])).toEqual(["", `${MASK}ijx`, ""]);
    expect(inPieces(mask, ["abcdefgh"])).toEqual(["", MASK]);
  });

  test("gives the same for a text in pieces as for the whole, however it is cut", () => {
    const letters = fc.constantFrom("a", "b", "c");
    const words = fc.array(letters, { minLength: 8, maxLength: 14 }).map((list) => list.join(""));
    const texts = fc.array(fc.oneof(letters, words), { maxLength: 40 });
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 1, maxLength: 6 }),
        texts,
        fc.infiniteStream(fc.nat(5)),
        (known, parts, cuts) => {
          const { mask } = redactorOf(...known);
          // the secrets themselves are among the parts, so that there is something to find
          const text = parts
            .flatMap((part, at) => (at % 5 === 0 ? [part, known[at % known.length] ?? ""] : [part]))
            .join("");
          const pieces: string[] = [];
          for (let at = 0; at < text.length;) {
            const size = cuts.next().value + 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          // the same, but that a secret may show up to three of its first characters where it was cut
          const shown = inPieces(mask, pieces).join("").split(MASK);
          const whole = mask.text(text).split(MASK);
          expect(shown).toHaveLength(whole.length);
          for (const [at, part] of shown.entries()) {
            const clean = whole[at] ?? "";
            expect(part).toStartWith(clean);
            expect(part.length - clean.length).toBeLessThanOrEqual(at === shown.length - 1 ? 0 : 3);
          }
          for (const value of known) expect(shown.join(MASK)).not.toContain(value);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("holds back no more than the longest form, and nothing of text that is no beginning", () => {
    const value = "tok-9f8e7d6c5b4a";
    const stream = redactorOf(value).mask.stream();
    let given = "";
    let shown = "";
    for (const char of `Plain words. ${"=".repeat(200)} tok-9f8e!! `) {
      given += char;
      shown += stream.push(char);
      expect(given.length - shown.length).toBeLessThan(6 * value.length);
    }
    expect(stream.push(".")).toBe(".");
  });

  test("shows the end of ordinary words at once, and of a secret that is cut there its first three characters at most", () => {
    const { mask } = redactorOf("sk-canary-1234");
    expect(inPieces(mask, ["It is s", "k-", "canary-", "1234", "."])).toEqual(["It is s", "k-", "", MASK, ".", ""]);
    expect(inPieces(mask, ["It is s", "k-", "can", "did"])).toEqual(["It is s", "k-", "", "candid", ""]);
    expect(inPieces(mask, [..."sk-canary-1234"]).join("")).toBe(`sk-${MASK}`);
  });

  test("masks a secret that becomes known while a text is under way", () => {
    const redactor = redactorOf("first-secret-1");
    const stream = redactor.mask.stream();
    expect(stream.push("one ")).toBe("one ");
    redactor.add(secret("second-secret-2"));
    expect(stream.push("second-sec") + stream.push("ret-2.") + stream.flush()).toBe(`${MASK}.`);
  });
});

describe("the mask", () => {
  test("takes only known values: what merely looks like a secret is an honest example", () => {
    const { mask } = redactorOf("operator-token-1");
    const example = 'curl -H "Authorization: Bearer YOUR_TOKEN_HERE" and apiKey: "sk-your-own-key-goes-here"';
    expect(mask.text(example)).toBe(example);
  });

  test.each([
    ["Markdown that escapes what it would eat", "a\\_long\\_token\\_value*1"],
    ["Markdown that escapes every mark", "a\\_long\\_token\\_value\\*1"],
    ["hex", Buffer.from("a_long_token_value*1").toString("hex")],
    ["base64", Buffer.from("a_long_token_value*1").toString("base64")],
  ])("knows the value in %s", (_where, text) => {
    expect(redactorOf("a_long_token_value*1").mask.text(`see ${text}.`)).toStartWith(`see ${MASK}`);
    const cut = inPieces(redactorOf("a_long_token_value*1").mask, [...`see ${text}.`]).join("");
    expect(cut).toStartWith(`see ${text.slice(0, 3)}${MASK}`);
  });

  test("knows the value in HTML", () => {
    expect(redactorOf('key<&">value').mask.text("see key&lt;&amp;&quot;&gt;value.")).toBe(`see ${MASK}.`);
  });

  test("costs a few nanoseconds a character with a thousand secrets, whole and in small pieces", () => {
    const values = Array.from({ length: 1_000 }, (_, n) => `secret-${n}-${"x7Kq".repeat(6)}${n}`);
    const { mask } = redactorOf(...values);
    const text = "The quick brown fox reads a secret-ly long report about keys, tokens and weather. ".repeat(2_500);
    const nsPerChar = (run: () => void): number => {
      const times = Array.from({ length: 5 }, () => {
        const from = Bun.nanoseconds();
        run();
        return Bun.nanoseconds() - from;
      });
      return Math.min(...times) / text.length;
    };
    mask.text("warm"); // the table of forms is made once
    const whole = nsPerChar(() => mask.text(text));
    const streamed = nsPerChar(() => {
      const stream = mask.stream();
      for (let at = 0; at < text.length; at += 4) stream.push(text.slice(at, at + 4));
    });
    expect(whole).toBeLessThan(200); // measured: 10
    expect(streamed).toBeLessThan(5_000); // measured: 220, one microsecond for a piece of four characters
  });
});
