import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { secret } from "../../kit/secret.ts";
import { createRedactor } from "./redact.ts";

const CANARY = 'canary /+"\\é value?&=1';
const MARKDOWN = CANARY.replace(/[!-/:-@[-`{-~]/g, "\\$&");

describe("a value known to be secret", () => {
  const bytes = Buffer.from(CANARY);
  const forms: Record<string, string> = {
    "plain text": CANARY,
    "a JSON string": JSON.stringify({ header: CANARY }),
    "JSON inside JSON": JSON.stringify({ body: JSON.stringify({ header: CANARY }) }),
    base64: bytes.toString("base64"),
    base64url: bytes.toString("base64url"),
    "base64 of a longer text, one byte in": Buffer.from(`u:${CANARY}`).toString("base64"),
    "base64 of a longer text, two bytes in": Buffer.from(`me:${CANARY} and more`).toString("base64"),
    "base64url of a longer text": Buffer.from(`user:${CANARY}!`).toString("base64url"),
    "a URL": `https://example.org/?q=${encodeURIComponent(CANARY)}`,
    "a URL with small hex digits": encodeURIComponent(CANARY).replace(/%../g, (escape) => escape.toLowerCase()),
    "a form": new URLSearchParams({ q: CANARY }).toString(),
    hex: bytes.toString("hex"),
    "Markdown that escapes punctuation": MARKDOWN,
    "such Markdown in a JSON string": JSON.stringify({ body: MARKDOWN }),
    "such Markdown in JSON inside JSON": JSON.stringify({ body: JSON.stringify({ text: MARKDOWN }) }),
  };
  for (const [form, text] of Object.entries(forms)) {
    test(`is taken out of ${form}`, () => {
      const redactor = createRedactor();
      redactor.add(secret(CANARY));
      const clean = redactor.scrub(`before ${text} after`);
      expect(clean).toContain("[redacted]");
      expect(clean).toStartWith("before ");
      expect(clean).toEndWith(" after");
      const core = text.slice(text.length / 2 - 4, text.length / 2 + 4);
      expect(clean).not.toContain(core);
    });
  }

  test("is taken out wherever it stands, however often", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 8, maxLength: 40 }).filter((value) => value.trim().length >= 8),
        fc.array(fc.string({ maxLength: 20 }), { minLength: 2, maxLength: 5 }),
        (value, around) => {
          const redactor = createRedactor();
          redactor.add(secret(value));
          fc.pre(!"[redacted]".includes(value));
          expect(redactor.scrub(around.join(value)).includes(value)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("has eight characters or more: a shorter one would take ordinary words out of the log", () => {
    const redactor = createRedactor();
    for (const value of ["1234567", "abcdefgh"]) redactor.add(secret(` ${value} `));
    expect(redactor.scrub("< 1234567 > < abcdefgh >")).toBe("< 1234567 > <[redacted]>");
  });

  test("takes one place, however often it is handed over, so that reloads push no other value out", () => {
    const redactor = createRedactor();
    redactor.add(secret("token of the gateway"));
    for (let reload = 0; reload < 2_000; reload++) redactor.add(secret("key of a plugin"));
    expect(redactor.scrub("token of the gateway, key of a plugin")).toBe("[redacted], [redacted]");
  });

  test("is hidden until the last who handed it over has taken it back, each of them once", () => {
    const redactor = createRedactor();
    const [first, second] = [redactor.add(secret("shared value")), redactor.add(secret("shared value"))];
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(redactor.scrub("shared value")).toBe("[redacted]");
    second[Symbol.dispose]();
    expect(redactor.scrub("shared value")).toBe("shared value");
  });

  test("is the oldest of a thousand others when it is forgotten, and its late end takes nothing away", () => {
    const redactor = createRedactor();
    const oldest = redactor.add(secret("the oldest value"));
    for (let other = 0; other < 1_000; other++) redactor.add(secret(`another value ${other}.`));
    expect(redactor.scrub("the oldest value, another value 0.")).toBe("the oldest value, [redacted]");
    redactor.add(secret("the oldest value"));
    oldest[Symbol.dispose]();
    expect(redactor.scrub("the oldest value")).toBe("[redacted]");
  });

  test("is forgotten when its registration ends", () => {
    const redactor = createRedactor();
    const registration = redactor.add(secret("short-lived value"));
    expect(redactor.scrub("a short-lived value")).toBe("a [redacted]");
    registration[Symbol.dispose]();
    expect(redactor.scrub("a short-lived value")).toBe("a short-lived value");
  });

  test("is ignored when it is so short that ordinary words would vanish", () => {
    const redactor = createRedactor();
    redactor.add(secret("the"));
    expect(redactor.scrub("the gateway is ready")).toBe("the gateway is ready");
  });
});

describe("a cut", () => {
  const [short, long] = ["inner-value-1234567890", "inner-value-1234567890-and-its-longer-sister"];
  const redactor = createRedactor();
  for (const value of [short, long]) redactor.add(secret(value));
  test.each([
    ["keeps a text that is short enough as it is", `a ${short}`, 40, `a ${short}`],
    ["keeps a secret that is whole, for those who read it unmasked", `${short} b and more`, 24, `${short} b`],
    ["leaves a secret out that it would part", `a ${short} b`, 10, "a "],
    ["leaves a secret out whose beginning is another one", `a ${long} b`, 30, "a "],
    ["marks a character that it parts", "ab😀", 3, "ab\ufffd"],
  ])("%s", (_what, text, maxChars, begins) => expect(redactor.mask.cut(text, maxChars)).toBe(begins));
});

describe("text that looks like a secret", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [redacted]"],
    ["using sk-ant-api03-abcdefghijklmnop now", "using [redacted] now"],
    [`sent pgw_${"aB3-".repeat(10)}xyz by mistake`, "sent [redacted] by mistake"],
    ["GET /v1?key=AbCdEf123456&x=1", "GET /v1?key=[redacted]&x=1"],
    ["token=abcdefgh and more", "token=[redacted] and more"],
    ['{"apiKey":"abcdefghi"}', '{"apiKey":"[redacted]"}'],
    ["http://127.0.0.1:1/#code=abcdEFGH", "http://127.0.0.1:1/#code=[redacted]"],
    ["https://me:pass1234@example.org/", "https://me:[redacted]@example.org/"],
    ["123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "[redacted]"],
    ["-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----", "[redacted]"],
  ];
  for (const [text, clean] of cases) {
    test(`is masked: ${clean}`, () => expect(createRedactor().scrub(text)).toBe(clean));
  }

  test("does not take ordinary words with it", () => {
    const ordinary = [
      "sessionKey=agent:default:webchat:dm:42",
      "inputTokens: 1234567, outputTokens: 99",
      "the key is under the mat",
      "http://127.0.0.1:18789/api/status",
      "2026-01-31T10:20:30.000Z",
    ];
    expect(ordinary.map((text) => createRedactor().scrub(text))).toEqual(ordinary);
  });
});
