import { describe, expect, test } from "bun:test";
import { depthOf, parseJson } from "./json.ts";

const LIMITS = { maxChars: 10_000, maxDepth: 4 };

describe("JSON from outside", () => {
  test("is parsed when it keeps within size and depth", () => {
    expect(parseJson('{"a":[{"b":[1]}]}', LIMITS)).toEqual({ ok: true, value: { a: [{ b: [1] }] } });
  });

  test.each([
    ["too_deep", "[[[[[1]]]]]"],
    ["too_large", `"${"x".repeat(10_000)}"`],
    ["not_json", "{"],
    ["not_json", ""],
  ] as const)("is refused with a reason: %s", (because, text) => {
    expect(parseJson(text, LIMITS)).toEqual({ ok: false, because });
  });

  test("a million brackets are refused without being parsed", () => {
    expect(parseJson("[".repeat(1_000_000), { maxChars: 2_000_000, maxDepth: 64 })).toEqual({
      ok: false,
      because: "too_deep",
    });
  });

  test("brackets inside strings do not count", () => {
    expect(depthOf('["[[[[", "\\"[[["]', 10)).toBe(1);
  });

  test.each([
    '{"__proto__":{"x":1},"a":1}',
    '{"\\u005f_proto__":{"x":1},"a":1}',
    '{"constructor":{"prototype":{}},"a":1}',
  ])("loses keys that could reach a prototype: %s", (text) => {
    expect(parseJson(text, LIMITS)).toEqual({ ok: true, value: { a: 1 } });
  });
});
