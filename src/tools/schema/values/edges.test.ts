/** Formats, defaults and empty texts at their edges. */
import { expect, test } from "bun:test";
import { FORMATS } from "../formats.ts";
import { createSchemaCompiler } from "../compile.ts";
import { emptyRequired } from "./required-text.ts";

const label = (chars: number) => "a".repeat(chars);

test.each([
  ["time", "12:00:00+01:59", true],
  ["time", "12:00:00+01:60", false],
  ["time", "12:00:00+24:00", false],
  ["time", "23:59:60Z", true],
  ["time", "22:59:60-01:00", true],
  ["time", "00:59:60+01:00", true],
  ["time", "12:00:60Z", false],
  ["time", "23:59:61Z", false],
  ["time", "24:00:00Z", false],
  ["time", "12:60:00Z", false],
  ["date", "2000-02-29", true],
  ["date", "1900-02-29", false],
  ["hostname", [63, 63, 63, 61].map(label).join("."), true], // 253 characters
  ["hostname", [63, 63, 63, 62].map(label).join("."), false],
  ["hostname", label(64), false],
  ["email", '"a@b"@example.org', true],
  ["email", "a@b@example.org", false],
  ["email", "a@[IPv6:::1]", true],
  ["email", "a@[127.0.0.1]", true],
  ["email", "a@(::1)", false],
  ["ipv6", "fe80::1", true],
  ["ipv6", "fe80::1%eth0", false],
] as const)("of the format %s, %j fits: %p", (format, text, fits) => {
  expect(FORMATS.get(format)?.(text)).toBe(fits);
});

test.each([
  ["a text that may be anything", {}, true],
  ["a text that says it may be empty", { minLength: 0 }, false],
  ["a text that is empty by default", { default: "" }, false],
  ["a text that has to be empty", { const: "" }, false],
  ["one of some texts, of which one is empty", { enum: ["", "a"] }, false],
  ["one of some texts, of which none is empty", { enum: ["a"] }, true],
])("an empty text in the place of %s is missing: %p", (_what, property, missing) => {
  const schema = { type: "object", properties: { text: { type: "string", ...property } }, required: ["text"] };
  expect(emptyRequired(schema, { text: "" }).length > 0).toBe(missing);
});

test("defaults are filled in for up to a thousand values and 64 KB, or not at all", () => {
  const withDefaults = (property: object, count: number) => {
    const properties = Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, property]));
    const compiled = createSchemaCompiler()({ type: "object", properties });
    if (compiled.kind === "quarantined") throw new Error(compiled.because);
    return Object.keys(compiled.withDefaults({}) as object).length;
  };
  expect([withDefaults({ default: 1 }, 1_000), withDefaults({ default: 1 }, 1_001)]).toEqual([1_000, 0]);
  const text = { default: "x".repeat(1_022) }; // 1,024 characters as JSON
  expect([withDefaults(text, 64), withDefaults(text, 65)]).toEqual([64, 0]);
});
