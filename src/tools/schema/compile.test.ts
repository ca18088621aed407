/** What compileSchema refuses and why, what it says about wrong values, and that neither schema nor value can make it work for long. */
import { describe, expect, test } from "bun:test";
import { compileSchema } from "./compile.ts";
import { SCHEMA_LIMITS } from "./inspect.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

function compiled(schema: unknown) {
  const made = compileSchema(schema);
  if (made.kind === "quarantined") throw new Error(made.because);
  return made;
}

const because = (schema: unknown): string => {
  const made = compileSchema(schema);
  return made.kind === "quarantined" ? made.because : "usable";
};

const says = (schema: unknown, value: unknown): string[] => {
  const check = compiled(schema).check(value);
  return check.ok ? [] : check.problems.map(({ path, message }) => `${path}: ${message}`);
};

const many = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

function nested(levels: number, wrap: (inner: object) => object): object {
  return Array.from({ length: levels }).reduce<object>(wrap, { type: "string" });
}

const circular: Record<string, unknown> = { type: "object" };
circular.properties = { self: circular };
const shared = object({ a: { default: nested(100, (inner) => [inner, inner]) } });

describe("a schema is quarantined, with a reason an operator understands,", () => {
  const cases: readonly [name: string, schema: unknown, because: string][] = [
    ["when it is no object", 5, "The schema is not an object."],
    ["when it is a list", [], "The schema is not an object."],
    ["when it is not there", undefined, "The schema is not an object."],
    ["when it holds itself", circular, "The schema is nested more than 32 levels deep."],
    ["when it holds the same again and again", shared, "The schema is larger than 128 KiB."],
    ["when it holds no data", object({ a: { default: 1n } }), "The schema cannot be written as JSON."],
    [
      "when its top is no object",
      { type: "string" },
      'The schema must be of type "object" at the top, because parameters have names.',
    ],
    ["when its top says nothing", {}, 'The schema must be of type "object" at the top, because parameters have names.'],
    [
      "when forms stand at its top",
      object({}, { anyOf: [{}] }),
      "anyOf stands at the top of the schema, where model providers refuse it.",
    ],
    ["when it is too large", object({ a: { description: "é".repeat(70_000) } }), "The schema is larger than 128 KiB."],
    [
      "when it is too deep",
      object({ a: nested(32, (inner) => object({ x: inner })) }),
      "The schema is nested more than 32 levels deep.",
    ],
    [
      "when brackets never end",
      object({ a: { default: nested(100_000, (inner) => [inner]) } }),
      "The schema is nested more than 32 levels deep.",
    ],
    [
      "when values are too deep",
      object({ a: { default: nested(500, (inner) => [inner]) } }),
      "The schema is nested more than 32 levels deep.",
    ],
    ["when it has too many properties", object(many(2_001, () => true)), "The schema has more than 2000 properties."],
    [
      "when it has too many parts",
      object({ a: { anyOf: Array.from({ length: 3_001 }, () => ({})) } }),
      "The schema has more than 3000 parts.",
    ],
    [
      "when it lists too many values",
      object({ a: { enum: Array.from({ length: 5_001 }, (_, at) => at) } }),
      "The schema lists more than 5000 values.",
    ],
    [
      "when it has too many patterns",
      object(many(101, (at) => ({ pattern: `a${at}` }))),
      "The schema has more than 100 patterns.",
    ],
    [
      "when its patterns are large together",
      object(many(6, (at) => ({ pattern: `[${at}]{0,1000}x{0,900}` }))),
      "The patterns of the schema are too large together.",
    ],
    [
      "when a pattern that cannot be run stands where leaving it out would forbid more",
      object({ a: { not: { pattern: "(?=a)" } } }),
      "At properties/a/not: the pattern (?=a) cannot be run in a time that is certain (it looks ahead or behind).",
    ],
    [
      "when a type does not exist",
      object({ a: { type: "strng" } }),
      "At properties/a: type must be one of string, number, integer, boolean, object, array, null, or a list of those.",
    ],
    [
      "when required is no list",
      object({ a: { type: "object", required: true } }),
      "At properties/a: required must be a list of property names.",
    ],
    [
      "when a limit is no number",
      object({ a: { exclusiveMinimum: true } }),
      "At properties/a: exclusiveMinimum must be a number.",
    ],
    ["when a property is no schema", object({ a: "string" }), "properties must be an object whose values are schemas."],
    [
      "when a multiple is zero",
      object({ a: { multipleOf: 0 } }),
      "At properties/a: multipleOf must be a number above 0.",
    ],
    ["when forms are no schemas", object({ a: { anyOf: [1] } }), "At properties/a: anyOf must be a list of schemas."],
    [
      "when a reference leads out",
      object({ a: { $ref: "https://a.example/s.json#/x" } }),
      "At properties/a: $ref https://a.example/s.json#/x leads out of the schema; only # references are followed.",
    ],
    [
      "when a reference is a file",
      object({ a: { $ref: "other.json" } }),
      "At properties/a: $ref other.json leads out of the schema; only # references are followed.",
    ],
    [
      "when a reference leads nowhere",
      object({ a: { $ref: "#/$defs/b" } }),
      "At properties/a: $ref #/$defs/b leads to nothing.",
    ],
    [
      "when a reference leads to a prototype",
      object({ a: { $ref: "#/constructor" } }),
      "At properties/a: $ref #/constructor leads to nothing.",
    ],
    [
      "when a reference leads to what all objects have",
      object({ a: { $ref: "#/__proto__" } }),
      "At properties/a: $ref #/__proto__ leads to nothing.",
    ],
    [
      "when a reference leads to no schema",
      object({ a: { $ref: "#/type" } }),
      "At properties/a: $ref #/type leads to nothing.",
    ],
    ["when an anchor is unknown", object({ a: { $ref: "#here" } }), "At properties/a: $ref #here leads to nothing."],
    [
      "when a reference leads to itself",
      object({ a: { $ref: "#/properties/a" } }),
      "At properties/a: $ref leads back to itself without an end.",
    ],
    [
      "when references go round",
      object(
        { a: { $ref: "#/$defs/b" } },
        { $defs: { b: { anyOf: [{ $ref: "#/$defs/c" }] }, c: { not: { $ref: "#/$defs/b" } } } },
      ),
      "At $defs/b: $ref leads back to itself without an end.",
    ],
    [
      "when a reference needs the caller",
      object({ a: { $dynamicRef: "#a" } }),
      "At properties/a: $dynamicRef is not supported; use $ref.",
    ],
    [
      "when a tuple is written in the old way",
      { ...object({ a: { items: [{}] } }), $schema: "https://json-schema.org/draft/2020-12/schema" },
      "At properties/a: items must be a schema; a list of schemas is called prefixItems.",
    ],
  ];
  test.each(cases)("%s", (_name, schema, reason) => {
    expect(because(schema)).toBe(reason);
  });

  test("and a schema at every limit is usable", () => {
    const deep = nested(31, (inner) => ({ properties: { x: inner } }));
    const wide = many(SCHEMA_LIMITS.maxProperties - 32, () => ({ type: "string" }));
    expect(says(object({ deep, ...wide }, { additionalProperties: false }), { p0: "a", p1: 1 })).toEqual([
      "p1: is 1; it must be text.",
    ]);
    const forms = Array.from({ length: 2_990 }, (_, index) => ({ const: index }));
    expect(compiled(object({ a: { anyOf: forms } })).check({ a: 2_989 })).toEqual({ ok: true });
  });
});

describe("a pattern that cannot be run", () => {
  const NOT_CHECKED = "cannot be run in a time that is certain (it looks ahead or behind). It is not checked.";

  test("is left out of the check, alone, with a notice, and agents are given it as it is", () => {
    const made = compiled(object({ a: { type: "string", pattern: "^(?!x)", maxLength: 3 } }, { required: ["a"] }));
    expect(made.notices).toEqual([`At properties/a: the pattern ^(?!x) ${NOT_CHECKED}`]);
    expect([made.check({ a: "xyz" }).ok, made.check({ a: "long" }).ok, made.check({}).ok]).toEqual([
      true,
      false,
      false,
    ]);
    expect(made.offered).toBeNull();
  });

  test("of names takes the rule about other names along, which nobody can apply without it", () => {
    const names = { patternProperties: { "^(?=x)": { type: "string" } }, additionalProperties: false };
    const made = compiled(object({ n: { type: "number" } }, names));
    expect(made.notices).toEqual([`the pattern ^(?=x) ${NOT_CHECKED}`]);
    expect([made.check({ x1: "y" }).ok, made.check({ n: "1" }).ok]).toEqual([true, false]);
  });

  test("in one of several forms does not make two of them fit where one is asked for", () => {
    const forms = [
      { type: "string", pattern: "^(?!x)" },
      { type: "string", pattern: "^x" },
    ];
    const made = compiled(object({ a: { oneOf: forms } }));
    expect([made.check({ a: "xyz" }).ok, made.check({ a: 5 }).ok]).toEqual([true, false]);
  });

  test("behind a reference is left out as well", () => {
    const made = compiled(
      object({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { type: "string", pattern: "(?<=a)" } } }),
    );
    expect(made.notices.length).toBe(1);
    expect(made.check({ a: "z" }).ok).toBe(true);
  });

  test("that is no regular expression at all is taken out of what agents are given", () => {
    const made = compiled(object({ a: { type: "string", pattern: "(?i)x(" } }));
    expect(made.notices).toEqual([
      "At properties/a: the pattern (?i)x( is not a valid regular expression. It is not checked.",
    ]);
    expect(made.offered).toEqual(object({ a: { type: "string" } }));
  });
});

describe("defaults", () => {
  const page = { type: "object", properties: { size: { type: "integer", default: 20 }, from: { type: "integer" } } };

  test.each<[name: string, schema: object, value: unknown, filled: unknown]>([
    ["of what was left out", object({ a: { default: 1 }, b: { default: [2] } }), { a: 5 }, { a: 5, b: [2] }],
    ["inside what was given", object({ page }), { page: { from: 3 } }, { page: { from: 3, size: 20 } }],
    ["in items", object({ all: { items: page } }), { all: [{}, { size: 1 }] }, { all: [{ size: 20 }, { size: 1 }] }],
    [
      "behind a reference",
      object({ page: { $ref: "#/$defs/p" } }, { $defs: { p: page } }),
      { page: {} },
      { page: { size: 20 } },
    ],
    ["through allOf", object({ page: { allOf: [page] } }), { page: {} }, { page: { size: 20 } }],
    ["of a whole part, as it is written", object({ page: { ...page, default: {} } }), {}, { page: {} }],
    ["that are null or false", object({ a: { default: null }, b: { default: false } }), {}, { a: null, b: false }],
    ["of names that all objects have", object({ constructor: { default: 1 } }), {}, { constructor: 1 }],
    ["in a choice are left alone", object({ a: { anyOf: [page] } }), { a: {} }, { a: {} }],
    ["in a schema that contains itself end", object({ a: { $ref: "#", default: {} } }), {}, { a: {} }],
  ])("%s", (_name, schema, value, filled) => {
    expect(compiled(schema).withDefaults(value)).toEqual(filled);
  });

  test("are copies: a tool that changes its parameters does not change the next call's", () => {
    const { withDefaults } = compiled(object({ a: { default: [1] } }));
    (withDefaults({}) as { a: number[] }).a.push(2);
    expect(withDefaults({})).toEqual({ a: [1] });
  });

  test("do not make a small call large", () => {
    const { withDefaults } = compiled(object({ all: { items: object({ a: { default: "x".repeat(1_000) } }) } }));
    const many = { all: Array.from({ length: 5_000 }, () => ({})) };
    expect(withDefaults(many)).toBe(many);
  });
});

describe("a usable schema", () => {
  test("comes back as it was, in a copy of its own", () => {
    const given = object(
      { a: { $ref: "#/definitions/b", type: "string" } },
      { $schema: "http://json-schema.org/draft-07/schema#", definitions: { b: {} } },
    );
    const { schema } = compiled(given);
    expect(schema).toEqual(given);
    expect(schema).not.toBe(given);
  });

  test("is not changed by what happens to the original later", () => {
    const given = object({ a: { type: "string" } }, { required: ["a"] });
    const made = compiled(given);
    given.properties = {};
    expect(made.check({}).ok).toBe(false);
  });

  test("may refer to the whole of itself, to any place and to anchors, forwards and around", () => {
    const schema = object(
      { next: { $ref: "#" }, other: { $ref: "#/x-parts/a~1b" }, named: { $ref: "#here" } },
      {
        "x-parts": { "a/b": { type: "integer" } },
        $defs: { q: { $anchor: "here", type: "null" } },
        additionalProperties: false,
      },
    );
    expect(says(schema, { next: { next: { next: {} } }, other: 1, named: null })).toEqual([]);
    expect(says(schema, { next: { next: { nxt: {} } }, other: "1", named: 1 })).toEqual([
      "next.next.nxt: is not a known parameter. Did you mean next?",
      "other: is text; it must be a whole number.",
      "named: is 1; it must be null.",
    ]);
  });

  test("of draft 7 ignores what stands beside a reference, and what came later", () => {
    const schema = object(
      { a: { $ref: "#/definitions/b", maxLength: 1 }, c: { type: "object", dependentRequired: { x: ["y"] } } },
      { definitions: { b: { type: "string" } } },
    );
    const value = { a: "long", c: { x: 1 } };
    expect(says({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, value)).toEqual([]);
    expect(says(schema, value).length).toBe(2);
  });
});

describe("only what the caller sent is a property", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
  test.each(names)("%s is missing when it was not sent, and checked when it was", (name) => {
    const schema = JSON.parse(
      `{"type":"object","properties":{"${name}":{"type":"string"}},"required":["${name}"],"additionalProperties":false}`,
    );
    const made = compiled(schema);
    expect(made.check({}).ok).toBe(false);
    expect(made.check(JSON.parse(`{"${name}":"text"}`)).ok).toBe(true);
    expect(made.check(JSON.parse(`{"${name}":1}`)).ok).toBe(false);
    expect(compiled({ ...schema, required: [] }).check({}).ok).toBe(true);
    expect(compiled(object({}, { additionalProperties: false })).check(JSON.parse(`{"${name}":1}`)).ok).toBe(false);
  });

  test("and nothing is left behind on prototypes", () => {
    compiled(JSON.parse('{"type":"object","properties":{"__proto__":{"default":{"polluted":1}}}}')).check(
      JSON.parse('{"__proto__":{"polluted":1}}'),
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("a wrong value is described so that a model can act", () => {
  const schema = object(
    {
      text: { type: "string", minLength: 1, maxLength: 20 },
      count: { type: "integer", minimum: 1, maximum: 10 },
      order: { enum: ["asc", "desc"] },
      when: { type: "string", format: "date-time" },
      tags: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
      who: { anyOf: [{ type: "string" }, { type: "null" }] },
      shape: {
        oneOf: [
          object({ kind: { const: "circle" }, radius: { type: "number" } }, { required: ["kind", "radius"] }),
          object(
            { kind: { const: "box" }, w: { type: "number" }, h: { type: "number" }, d: { type: "number" } },
            { required: ["kind", "w", "h", "d"] },
          ),
        ],
      },
      labels: { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
      range: { type: "object", dependentRequired: { from: ["to"] }, maxProperties: 2 },
      "odd name": { type: "boolean" },
    },
    { required: ["text"], additionalProperties: false },
  );
  const cases: readonly [name: string, value: unknown, said: string[]][] = [
    ["missing", {}, ["text: is missing; it must be text of 1 to 20 characters."]],
    ["not an object", null, [": is null; it must be an object in { }."]],
    ["nothing", undefined, [": is nothing; it must be an object in { }."]],
    [
      "misspelt",
      { txt: "a" },
      ["text: is missing; it must be text of 1 to 20 characters.", "txt: is not a known parameter. Did you mean text?"],
    ],
    [
      "unknown",
      { text: "a", zzzzzz: 1 },
      [
        "zzzzzz: is not a known parameter. Known here: text, count, order, when, tags, who, shape, labels, range, odd name.",
      ],
    ],
    ["of the wrong type", { text: 5 }, ["text: is 5; it must be text of 1 to 20 characters."]],
    ["too long", { text: "😀".repeat(21) }, ["text: must be text of 1 to 20 characters."]],
    ["out of range", { text: "a", count: 11 }, ["count: is 11; it must be a whole number from 1 to 10."]],
    ["a fraction", { text: "a", count: 1.5 }, ["count: is 1.5; it must be a whole number from 1 to 10."]],
    ["not listed", { text: "a", order: "ask" }, ['order: must be "asc" or "desc". Did you mean "asc"?']],
    ["of the wrong format", { text: "a", when: "tomorrow" }, ["when: must be text in the format date-time."]],
    [
      "too few",
      { text: "a", tags: [] },
      ["tags: is an empty list; it must be a list in [ ] of 1 to 2 items, each text."],
    ],
    [
      "too many, twice and wrong",
      { text: "a", tags: ["x", "x", 3] },
      [
        "tags: is a list of 3 items; it must be a list in [ ] of 1 to 2 items, each text.",
        "tags: must not have the same item twice.",
        "tags[2]: is 3; it must be text.",
      ],
    ],
    ["of no form", { text: "a", who: 5 }, ["who: is 5; it must be text or null."]],
    [
      "of a form it names",
      { text: "a", shape: { kind: "box" } },
      [
        "shape.w: is missing; it must be a number.",
        "shape.h: is missing; it must be a number.",
        "shape.d: is missing; it must be a number.",
      ],
    ],
    [
      "under a pattern",
      { text: "a", labels: { "x-a": 1, b: 2 } },
      ["labels.x-a: is 1; it must be text.", "labels.b: is not a known parameter."],
    ],
    ["without its companion", { text: "a", range: { from: 1 } }, ["range.to: is missing; from needs it."]],
    ["in a place with an odd name", { text: "a", "odd name": 1 }, ['"odd name": is 1; it must be true or false.']],
  ];
  test.each(cases)("%s", (_name, value, said) => {
    expect(says(schema, value)).toEqual(said);
  });

  test("at most eight problems are told at once", () => {
    expect(says(schema, { text: "a", tags: Array.from({ length: 100 }, (_, index) => index) }).length).toBe(8);
  });

  test("and never nothing, also for rules between properties", () => {
    const rule = object({ a: {} }, JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'));
    expect(says(rule, { a: 1 })).toEqual([
      ": do not fit together as the tool's schema asks. Read its parameters again.",
    ]);
  });
});

describe("no schema and no value make a check long", () => {
  const branching = (keyword: string) => ({
    ...object({ x: { $ref: "#/$defs/n" } }),
    $defs: {
      n: {
        [keyword]: [object({ x: { $ref: "#/$defs/n" } }), object({ x: { $ref: "#/$defs/n" }, y: true })],
        type: ["object", "string"],
      },
    },
  });
  const doubling = {
    ...object({ x: { $ref: "#/$defs/a0" } }),
    $defs: Object.fromEntries(
      [...Array(30).keys()].map((at) => [
        `a${at}`,
        at === 29 ? { type: "string" } : { allOf: [{ $ref: `#/$defs/a${at + 1}` }, { $ref: `#/$defs/a${at + 1}` }] },
      ]),
    ),
  };
  const deepValue = nested(60, (inner) => ({ x: inner }));
  const long = "a".repeat(250_000);
  const bombs: readonly [name: string, schema: object, value: unknown][] = [
    ["oneOf that branches at each level", branching("oneOf"), deepValue],
    [
      "anyOf that branches at each level",
      branching("anyOf"),
      { x: nested(60, (inner) => ("type" in inner ? { x: 5 } : { x: inner })) },
    ],
    ["allOf that doubles at each reference", doubling, { x: "a" }],
    [
      "many patterns for one long text",
      object({ x: { allOf: Array.from({ length: 100 }, (_, at) => ({ pattern: `(a|a)*${at}$` })) } }),
      { x: long },
    ],
    [
      "many forms for one long list",
      object({ x: { items: { allOf: Array.from({ length: 2_900 }, () => ({ type: "number" })) } } }),
      { x: Array(100_000).fill(1) },
    ],
    [
      "many lengths for one long text",
      object({ x: { allOf: Array.from({ length: 2_900 }, () => ({ maxLength: 200_000 })) } }),
      { x: long },
    ],
    [
      "many formats for one long text",
      object({ x: { allOf: Array.from({ length: 2_900 }, () => ({ format: "uri" })) } }),
      { x: `a:${long}` },
    ],
    [
      "many constants for one large value",
      object({ x: { anyOf: Array.from({ length: 2_000 }, (_, at) => ({ const: [at] })) } }),
      { x: Array(60_000).fill(1) },
    ],
  ];
  test.each(bombs)("%s ends with a refusal", (_name, schema, value) => {
    expect(says(schema, value)).toEqual([": too much to check against the tool's schema. Send less."]);
  });

  test("a value that is nested without end is refused before it is looked at", () => {
    expect(says(object({ x: {} }), { x: nested(100_000, (inner) => [inner]) })).toEqual([
      ": nested more than 64 levels deep. Send something flatter.",
    ]);
  });

  test("ordinary large values are checked as they should be", () => {
    const schema = object({
      rows: {
        type: "array",
        items: object({ id: { type: "integer" }, text: { type: "string", maxLength: 100, pattern: "^[a-z ]*$" } }),
      },
    });
    const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, text: "some ordinary words" }));
    expect(says(schema, { rows })).toEqual([]);
    expect(says(schema, { rows: [...rows, { id: "x" }] })).toEqual([
      "rows[4000].id: is text; it must be a whole number.",
    ]);
    expect(
      says(object({ text: { type: "string", pattern: "^[\\x20-\\x7E]*$" } }), { text: "a".repeat(200_000) }),
    ).toEqual([]);
  });
});
