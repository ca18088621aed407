/** One request, one spelling: everything but the exact signature of the exact bytes at about this time is refused. */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { checkSignature, SIGNATURE_WINDOW_MS, signBody } from "./signed-body.ts";

const KEY = "a key for tests that nobody guesses";
const NOW = 1_790_000_000_000;
const BODY = new TextEncoder().encode('{"text":"hello"}');
const good = signBody(KEY, BODY, NOW);
const check = (headers: Partial<Record<"timestamp" | "signature", string | null>>, more: object = {}) =>
  checkSignature({ ...good, ...headers }, BODY, { keys: [KEY], now: NOW, ...more });

test("a signature is the HMAC-SHA256 of timestamp, dot and body, in small hex digits", () => {
  const expected = createHmac("sha256", KEY).update(`1790000000.{"text":"hello"}`).digest("hex");
  expect(good).toEqual({ timestamp: "1790000000", signature: `v1=${expected}` });
  expect(check({})).toEqual({ kind: "good", timestamp: "1790000000", key: 0 });
});

describe("refused as forged", () => {
  const hex = good.signature.slice(3);
  test.each([
    ["in capital letters", { signature: `v1=${hex.toUpperCase()}` }],
    ["in base64", { signature: `v1=${Buffer.from(hex, "hex").toString("base64")}` }],
    ["without its version", { signature: hex }],
    ["with a capital version", { signature: `V1=${hex}` }],
    ["with a space", { signature: `v1= ${hex}` }],
    ["with a second one behind", { signature: `${good.signature}, ${good.signature}` }],
    ["too short", { signature: `v1=${hex.slice(2)}` }],
    ["too long", { signature: `v1=${hex}00` }],
    ["of another body", { signature: signBody(KEY, new Uint8Array(3), NOW).signature }],
    ["with another key", { signature: signBody("another key", BODY, NOW).signature }],
    ["of another time", { timestamp: "1790000001" }],
    ["of a time with a sign", { timestamp: "+1790000000" }],
    ["of a time with a zero in front", { timestamp: "01790000000" }],
    ["of a time with a fraction", { timestamp: "1790000000.0" }],
    ["of a time in milliseconds", { timestamp: "1790000000000" }],
    ["that is missing", { signature: null }],
    ["of no time", { timestamp: null }],
  ])("is a signature %s", (_how, headers) => {
    expect(check(headers).kind).toBe("forged");
  });

  test("is every other header text, and every changed byte of the body", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(text !== good.signature);
        expect(check({ signature: text }).kind).toBe("forged");
      }),
    );
    fc.assert(
      fc.property(fc.nat(BODY.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = BODY.map((byte, index) => (index === at ? byte ^ change : byte));
        expect(checkSignature(good, changed, { keys: [KEY], now: NOW }).kind).toBe("forged");
      }),
    );
  });
});

test("a good signature holds for five minutes in both directions, and is stale outside of them", () => {
  for (const sign of [1, -1]) {
    expect(check({}, { now: NOW + sign * SIGNATURE_WINDOW_MS }).kind).toBe("good");
    expect(check({}, { now: NOW + sign * (SIGNATURE_WINDOW_MS + 1) }).kind).toBe("stale");
  }
});

test("while a key is replaced both are good, and it is told which of them fits", () => {
  expect(check({}, { keys: ["the new key", KEY] })).toMatchObject({ kind: "good", key: 1 });
  expect(check({}, { keys: [KEY, "the old key"] })).toMatchObject({ kind: "good", key: 0 });
});

test("without keys nothing is good, an empty key included", () => {
  expect(check({}, { keys: [] })).toEqual({ kind: "forged", because: "wrong" });
  expect(check(signBody("", BODY, NOW), { keys: [] })).toEqual({ kind: "forged", because: "wrong" });
});
