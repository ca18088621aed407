/** Keywords that few tools use: our verdict against ajv's for every pair of a schema and a value. Formats have a table of their own. */
import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import { compileSchema } from "./compile.ts";
import { FORMATS } from "./formats.ts";

const options = { strict: false, ownProperties: true, logger: false } as const;
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 1.5, 2, 3, 6, 0.3, 1e300, "", "a", "ab", "abc", "x-a", "12", "é", "😀"],
  ...[[], [1], ["a"], [1, "a"], [1, "a", true], [1, 1], [1, 2, 3, 4], [{ a: 1 }, { a: 1 }], [[1], [1]], ["a", "b", 3]],
  ...[
    {},
    { a: 1 },
    { a: "x" },
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { "x-a": 1 },
    { "x-a": "s", a: 1 },
    { a: { a: { a: 1 } } },
    { a: null },
  ],
  ...[{ a: [1], b: { c: [] } }, { kind: "one", a: 1 }, { kind: "two" }, { c: 1, d: 2 }, { a: 1, "x-b": "s", z: true }],
];

const BOTH: readonly object[] = [
  { type: ["string", "null"] },
  { type: "integer", multipleOf: 3 },
  { type: "number", multipleOf: 0.5, exclusiveMaximum: 3 },
  { const: { b: 2, a: 1 } },
  { const: [1, "a"] },
  { enum: [1, "a", null, { a: 1 }, [1]] },
  { minLength: 2, maxLength: 2 },
  { pattern: "^x-" },
  { uniqueItems: true },
  { contains: { type: "string" } },
  { minProperties: 1, maxProperties: 2 },
  { propertyNames: { pattern: "^[a-z]$" } },
  { patternProperties: { "^x-": { type: "string" } } },
  { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
  {
    properties: { a: { type: "integer" } },
    patternProperties: { "^x-": { type: "string" }, a$: { not: { type: "null" } } },
    additionalProperties: { type: "boolean" },
  },
  { properties: { a: { type: "integer" } }, additionalProperties: { type: "string" } },
  { allOf: [{ required: ["a"] }, { properties: { a: { type: "integer" } } }] },
  { oneOf: [{ type: "integer" }, { minimum: 2 }] },
  { anyOf: [{ maxItems: 1 }, { required: ["a"] }], not: { type: "null" } },
  JSON.parse(
    '{"if":{"properties":{"kind":{"const":"one"}},"required":["kind"]},"then":{"required":["a"]},"else":{"not":{"required":["b"]}}}',
  ),
  { dependencies: { a: ["b"], c: { required: ["d"] } } },
  {
    $ref: "#/definitions/tree",
    definitions: {
      tree: {
        type: "object",
        properties: { a: { anyOf: [{ $ref: "#/definitions/tree" }, { type: "integer" }] } },
        additionalProperties: false,
      },
    },
  },
  { properties: { a: true, b: false } },
];
const SEVEN: readonly object[] = [
  { items: [{ type: "integer" }, { type: "string" }], additionalItems: false },
  { items: [{ type: "integer" }], additionalItems: { type: "string" } },
];
const MODERN: readonly object[] = [
  { prefixItems: [{ type: "integer" }, { type: "string" }], items: false },
  { contains: { type: "integer" }, minContains: 2, maxContains: 2 },
  { contains: { type: "integer" }, minContains: 0 },
  { dependentRequired: { a: ["b"] } },
  { dependentSchemas: { a: { required: ["b"] } } },
  { type: "object", properties: { a: { type: "integer" } }, unevaluatedProperties: false },
  {
    type: "object",
    allOf: [{ properties: { a: true } }],
    anyOf: [{ properties: { b: true }, required: ["b"] }, true],
    unevaluatedProperties: { type: "string" },
  },
  { prefixItems: [{ type: "integer" }], unevaluatedItems: { type: "string" } },
  {
    type: "object",
    $ref: "#/$defs/a",
    properties: { b: true },
    unevaluatedProperties: false,
    $defs: { a: { properties: { a: true } } },
  },
];

function verdicts(dialect: string, part: object): { ours: boolean[]; theirs: boolean[] } {
  const { definitions, $defs, ...inner } = part as Record<string, unknown>;
  const schema = {
    $schema: dialect,
    type: "object",
    properties: { v: inner },
    required: ["v"],
    definitions: definitions ?? {},
    $defs: $defs ?? {},
  };
  const compiled = compileSchema(schema);
  if (compiled.kind === "quarantined") throw new Error(compiled.because);
  const validate = (dialect.includes("draft-07") ? new Ajv(options) : new Ajv2020(options)).compile(schema);
  return { ours: VALUES.map((v) => compiled.check({ v }).ok), theirs: VALUES.map((v) => validate({ v })) };
}

describe("the verdict on every value is ajv's", () => {
  test.each([...BOTH, ...SEVEN].map((part) => [JSON.stringify(part), part] as const))("draft 7: %s", (_text, part) => {
    const { ours, theirs } = verdicts("http://json-schema.org/draft-07/schema#", part);
    expect(ours).toEqual(theirs);
  });

  test.each([...BOTH, ...MODERN].map((part) => [JSON.stringify(part), part] as const))("2020-12: %s", (_text, part) => {
    const { ours, theirs } = verdicts("https://json-schema.org/draft/2020-12/schema", part);
    expect(ours).toEqual(theirs);
  });
});

/** Ajv divides, and 0.3 / 0.1 is 2.9999999999999996; the specification means the numbers as they are written. */
test.each([
  [0.3, 0.1, true],
  [1e300, 3, false],
  [3e300, 3, true],
  [4.35, 0.01, true],
  [4.355, 0.01, false],
  [-6, 3, true],
  [0, 7, true],
  [1e-7, 1e-8, true],
])("%p by %p is decided by the digits", (value, multipleOf, fits) => {
  const compiled = compileSchema({ type: "object", properties: { a: { type: "number", multipleOf } } });
  expect(compiled.kind === "ok" && compiled.check({ a: value }).ok).toBe(fits);
});

describe("a format", () => {
  const cases: readonly [format: string, good: readonly string[], bad: readonly string[]][] = [
    [
      "date",
      ["2024-02-29", "2000-02-29", "1999-12-31"],
      ["2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "2024-1-1", "", "2024-01-00"],
    ],
    [
      "time",
      ["00:00:00Z", "23:59:60Z", "22:59:60-01:00", "12:00:00.123+05:30"],
      ["24:00:00Z", "12:00:00", "12:00:60Z", "12:00Z", "12:60:00Z"],
    ],
    [
      "date-time",
      ["2024-02-29T12:00:00Z", "2024-02-29t12:00:00.5z"],
      ["2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00Z[UTC]", "2024-02-29"],
    ],
    [
      "email",
      ["ann@a.example", "a.b+c@d-e.example", '"a b"@a.example', "ann@localhost", "ann@[127.0.0.1]", "ann@[IPv6:::1]"],
      ["ann", "@a.example", "ann@", "a..b@c.example", "a b@c.example", "ann@-a.example"],
    ],
    [
      "hostname",
      ["a", "a-b.example", "1.example"],
      ["", "-a", "a-", "a..b", "a_b", `${"a".repeat(64)}.example`, `${"a.".repeat(127)}a`],
    ],
    ["ipv4", ["0.0.0.0", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5", ""]],
    ["ipv6", ["::", "::1", "fe80::1", "::ffff:1.2.3.4"], ["fe80::1%eth0", "1::2::3", "12345::", ""]],
    [
      "uri",
      [
        "https://a.example/x?q=1#top",
        "mailto:ann@a.example",
        "urn:a:b",
        "http://[::1]:80/x",
        "http://u:p@[::1]/",
        "a:",
        "data:text/plain,%20",
      ],
      [
        "",
        "a.example",
        "//a.example",
        "http://a b",
        "http://[::1",
        "http://[zz]/",
        "http://a/%zz",
        "http://a/#b#c",
        "1a:b",
        "http://a/<b>",
      ],
    ],
    [
      "uuid",
      ["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"],
      ["0f8fad5bd9cb469fa16570867728950e", "0f8fad5b-d9cb-469f-a165-70867728950", "g".repeat(36)],
    ],
  ];
  test("is in the table if it is checked", () => {
    expect(cases.map(([format]) => format).sort()).toEqual([...FORMATS.keys()].sort());
  });
  test.each(cases)("%s tells right from wrong", (format, good, bad) => {
    const fits = FORMATS.get(format) ?? (() => false);
    expect(good.filter((text) => !fits(text))).toEqual([]);
    expect(bad.filter(fits)).toEqual([]);
  });

  const N = 200_000;
  const HOSTILE = [
    ...[
      "a".repeat(N),
      "a.".repeat(N / 2),
      `a@${"a.".repeat(N / 2)}!`,
      `"${"\\a".repeat(N / 2)}`,
      `a:${"%41".repeat(N / 3)} `,
      `a://${"a".repeat(N)} `,
    ],
    ...[
      `a://${"a:".repeat(N / 2)}@ `,
      `a://${"a@".repeat(N / 2)}[`,
      `a:${"/".repeat(N)} `,
      `2020-01-01T00:00:00.${"0".repeat(N)}x`,
      "0:".repeat(N / 2),
    ],
  ];
  test("takes no time to speak of for a text that was made to be slow", () => {
    const before = process.cpuUsage();
    for (const fits of FORMATS.values()) for (const text of HOSTILE) fits(text);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_500); // 99 looks at 200,000 characters; others need seconds for one
  });

  test("that is not in the table only informs", () => {
    const compiled = compileSchema({ type: "object", properties: { a: { type: "string", format: "cidrv4" } } });
    expect(compiled.kind === "ok" && compiled.check({ a: "anything" }).ok).toBe(true);
  });
});
