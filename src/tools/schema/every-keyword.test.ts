/** Every keyword counts: a value just inside its limit is taken, the next one is refused with the place and the reason, and nothing right is blamed. */
import { describe, expect, test } from "bun:test";
import { compileSchema } from "./compile.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

/** What a model is told about these parameters; empty: they fit. */
function says(schema: unknown, value: unknown): string[] {
  const made = compileSchema(schema);
  if (made.kind === "quarantined") throw new Error(made.because);
  const check = made.check(value);
  return check.ok ? [] : check.problems.map(({ path, message }) => `${path}: ${message}`);
}

interface Row {
  readonly schema: object;
  readonly right: readonly unknown[];
  readonly wrong: unknown;
  /** Of the value above; null: a rule between properties, of which no more can be said than that they do not fit together. */
  readonly said: string | null;
}

const NUMBER = { type: "number" };
const LIST = { type: "array" };
const ROWS: readonly Row[] = [
  { schema: { type: "boolean" }, right: [true, false], wrong: 1, said: "x: is 1; it must be true or false." },
  { schema: { ...NUMBER, minimum: 2 }, right: [2, 3], wrong: 1, said: "x: is 1; it must be a number of at least 2." },
  { schema: { ...NUMBER, maximum: 2 }, right: [2, 1], wrong: 3, said: "x: is 3; it must be a number of at most 2." },
  { schema: { ...NUMBER, exclusiveMinimum: 2 }, right: [3], wrong: 2, said: "x: is 2; it must be a number" },
  { schema: { ...NUMBER, exclusiveMaximum: 2 }, right: [1], wrong: 2, said: "x: is 2; it must be a number" },
  { schema: { ...NUMBER, multipleOf: 3 }, right: [0, 6], wrong: 4, said: "x: is 4; it must be a number" },
  { schema: { ...LIST, minItems: 2 }, right: [[1, 2]], wrong: [1], said: "x: is a list of 1 item; it must be a list" },
  { schema: { ...LIST, maxItems: 1 }, right: [[], [1]], wrong: [1, 2], said: "x: is a list of 2 items; it must be" },
  { schema: { ...LIST, uniqueItems: true }, right: [[1, 2]], wrong: [1, 1], said: "x: must not have the same item" },
  { schema: { ...LIST, contains: NUMBER }, right: [[1]], wrong: ["a"], said: null },
  { schema: { ...LIST, contains: NUMBER, minContains: 2 }, right: [[1, 2]], wrong: [1], said: null },
  { schema: { ...LIST, contains: NUMBER, maxContains: 1 }, right: [[1, "a"]], wrong: [1, 2], said: null },
  { schema: { ...LIST, items: NUMBER }, right: [[1]], wrong: [1, "a"], said: "x[1]: is text; it must be a number." },
  { schema: { ...LIST, prefixItems: [NUMBER] }, right: [[1, "a"]], wrong: ["a"], said: "x[0]: is text; it must be" },
  { schema: { minLength: 2 }, right: ["ab", "😀😀"], wrong: "😀", said: "x: must be text of at least 2 characters." },
  { schema: { maxLength: 2 }, right: ["ab", "😀😀"], wrong: "abc", said: "x: must be text of at most 2 characters." },
  { schema: { pattern: "^a" }, right: ["ab"], wrong: "b", said: "x: must be text" },
  { schema: { format: "date" }, right: ["2024-02-29"], wrong: "2023-02-29", said: "x: must be text in the format" },
  { schema: { enum: ["a", 1] }, right: ["a", 1], wrong: 2, said: "x: is 2; it must be" },
  { schema: { const: "a" }, right: ["a"], wrong: "b", said: 'x: must be "a".' },
  { schema: { not: NUMBER }, right: ["a"], wrong: 1, said: null },
  { schema: { minProperties: 1 }, right: [{ a: 1 }], wrong: {}, said: "x: has 0 of at least 1 properties." },
  { schema: { maxProperties: 1 }, right: [{ a: 1 }], wrong: { a: 1, b: 2 }, said: "x: has 2 of at most 1 properties." },
  { schema: { required: ["a"] }, right: [{ a: 1 }], wrong: {}, said: "x.a: is missing." },
  { schema: { dependentRequired: { a: ["b"] } }, right: [{ b: 1 }], wrong: { a: 1 }, said: "x.b: is missing; a needs" },
  { schema: { properties: { a: false } }, right: [{ b: 1 }], wrong: { a: 1 }, said: "x.a: is not allowed here." },
  { schema: { additionalProperties: NUMBER }, right: [{ a: 1 }], wrong: { a: "b" }, said: "x.a: is text; it must be" },
  {
    schema: { patternProperties: { "^a": NUMBER } },
    right: [{ a: 1, b: "c" }],
    wrong: { a: "b" },
    said: "x.a: is text; it must be a number.",
  },
  { schema: { propertyNames: { maxLength: 1 } }, right: [{ a: 1 }], wrong: { ab: 1 }, said: null },
  { schema: { allOf: [NUMBER, { minimum: 2 }] }, right: [2], wrong: 1, said: "x: is 1; it must be" },
  { schema: { anyOf: [NUMBER, LIST] }, right: [1, []], wrong: "a", said: "x: is text; it must be a number or a list" },
  { schema: { oneOf: [NUMBER, { minimum: 2 }] }, right: [1, "a"], wrong: 2, said: null },
];
const BETWEEN = ": do not fit together as the tool's schema asks. Read its parameters again.";

describe("a schema", () => {
  test.each(ROWS.map((row) => [JSON.stringify(row.schema), row] as const))(
    "with %s takes what is right and says what is wrong",
    (_text, { schema, right, wrong, said }) => {
      const whole = object({ x: schema });
      for (const value of right) expect(says(whole, { x: value })).toEqual([]);
      const [first, ...others] = says(whole, { x: wrong });
      expect(others).toEqual([]);
      expect(first?.slice(0, (said ?? BETWEEN).length)).toBe(said ?? BETWEEN);
    },
  );

  test.each(ROWS.map((row) => [JSON.stringify(row.schema), row] as const))(
    "with %s blames nothing that is right when something else is wrong",
    (_text, { schema, right }) => {
      const whole = object({ x: schema, y: NUMBER });
      for (const value of right)
        expect(says(whole, { x: value, y: "a" })).toEqual(["y: is text; it must be a number."]);
    },
  );

  /** Keywords that say something about one kind of value, each with values of the others, and one of its own that is wrong. */
  const OF_NUMBERS = { minimum: 2, maximum: -2, exclusiveMinimum: 2, exclusiveMaximum: -2, multipleOf: 7 };
  const OF_TEXTS = { minLength: 9, maxLength: 0, pattern: "^z", format: "date" };
  const OF_LISTS = { minItems: 9, maxItems: 0, uniqueItems: true, contains: false, items: false, prefixItems: [false] };
  const OF_GROUPS = {
    minProperties: 9,
    maxProperties: 0,
    required: ["z"],
    propertyNames: false,
    additionalProperties: false,
  };
  const KINDS = { number: 1, text: "a", list: [1, 1], group: { a: 1 }, nothing: null, truth: true };

  test.each([
    ...Object.entries(OF_NUMBERS).map((entry) => [...entry, "number"] as const),
    ...Object.entries(OF_TEXTS).map((entry) => [...entry, "text"] as const),
    ...Object.entries(OF_LISTS).map((entry) => [...entry, "list"] as const),
    ...Object.entries(OF_GROUPS).map((entry) => [...entry, "group"] as const),
  ])("with %s %p and no type says something about each %s, and nothing about other values", (keyword, rule, kind) => {
    const whole = object({ x: { [keyword]: rule } });
    const refused = Object.entries(KINDS).filter(([, value]) => says(whole, { x: value }).length > 0);
    expect(refused.map(([name]) => name)).toEqual([kind]);
  });

  test.each(["anyOf", "oneOf", "allOf", "enum", "not"])("with %s at its top is quarantined", (keyword) => {
    const made = compileSchema(object({}, { [keyword]: keyword === "not" ? {} : [{}] }));
    expect(made.kind === "quarantined" ? made.because : "usable").toStartWith(`${keyword} stands at the top`);
  });

  test("may name a place by $id as draft 7 does, and refer to it", () => {
    const schema = object(
      { x: { $ref: "#here" } },
      { $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: { $id: "#here", type: "number" } } },
    );
    expect([says(schema, { x: 1 }), says(schema, { x: "a" })]).toEqual([[], ["x: is text; it must be a number."]]);
  });

  test("with two places of one name is quarantined", () => {
    const twice = { a: { $anchor: "here", type: "number" }, b: { $anchor: "here", type: "string" } };
    const made = compileSchema(object({ x: { $ref: "#here" } }, { $defs: twice }));
    expect(made.kind === "quarantined" ? made.because : "usable").toBe("Two places in the schema are called here.");
  });

  test("that had too much to check once checks the next call as if nothing had been", () => {
    const made = compileSchema(object({ x: { type: "array", items: { pattern: "^a" } }, y: NUMBER }));
    if (made.kind === "quarantined") throw new Error(made.because);
    expect(made.check({ x: Array.from({ length: 700_000 }, () => "a") })).toMatchObject({
      problems: [{ message: "too much to check against the tool's schema. Send less." }],
    });
    expect(made.check({ x: ["a"] })).toEqual({ ok: true });
    expect(made.check({ y: "a" })).toMatchObject({ problems: [{ path: "y" }] });
  });

  test("that turns into something else when it is written as JSON is quarantined", () => {
    const made = compileSchema({ ...object({}), toJSON: () => 5 });
    expect(made.kind === "quarantined" ? made.because : "usable").toBe("The schema is not an object.");
  });

  test("says nothing about a parameter that holds what JSON has no word for, as if it were not there", () => {
    const schema = object({ x: NUMBER }, { required: ["x"] });
    const missing = ["x: is missing; it must be a number."];
    expect([says(object({ x: NUMBER }), { x: undefined }), says(schema, { x: undefined })]).toEqual([[], missing]);
    expect([says(object({ x: NUMBER }), { x: () => 1 }), says(schema, { x: () => 1 })]).toEqual([[], missing]);
  });
});
