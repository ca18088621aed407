/** Schemas and ids as providers take them: a table for each family, and no real tool's schema that would break a request. */
import { describe, expect, test } from "bun:test";
import { serverOf, toolCorpus } from "../../../testing/tools/tool-corpus.ts";
import { type SchemaNode, subschemasOf } from "../../../kit/schema/keywords.ts";
import { createProviderSchemas, schemaForProvider } from "./provider-profiles.ts";

const root = (properties: object, more: object = {}): SchemaNode => ({ type: "object", properties, ...more });
const corpus = await toolCorpus();

function everyNode(node: SchemaNode): SchemaNode[] {
  return [
    node,
    ...subschemasOf(node).flatMap(({ schema }) => (typeof schema === "object" ? everyNode(schema as SchemaNode) : [])),
  ];
}

describe("for Google's function declarations", () => {
  const cases: readonly [name: string, given: object, made: object][] = [
    ["a type or null is nullable", { type: ["string", "null"] }, { type: "string", nullable: true }],
    [
      "several types are several forms",
      { type: ["string", "integer"] },
      { anyOf: [{ type: "string" }, { type: "integer" }] },
    ],
    [
      "null among forms is nullable",
      { anyOf: [{ type: "integer" }, { type: "null" }] },
      { type: "integer", nullable: true },
    ],
    [
      "oneOf is anyOf",
      { oneOf: [{ type: "integer" }, { type: "boolean" }] },
      { anyOf: [{ type: "integer" }, { type: "boolean" }] },
    ],
    [
      "forms of which one may be null are nullable",
      { anyOf: [{ type: ["integer", "null"] }, { type: "boolean" }] },
      { anyOf: [{ type: "integer", nullable: true }, { type: "boolean" }], nullable: true },
    ],
    ["a constant is a list of one", { const: "a" }, { type: "string", enum: ["a"] }],
    ["constants are one list", { anyOf: [{ const: "a" }, { const: "b" }] }, { type: "string", enum: ["a", "b"] }],
    ["a list without a type is of strings", { enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    ["null in a list is nullable", { enum: ["a", null] }, { type: "string", enum: ["a"], nullable: true }],
    [
      "a list of numbers is described",
      { type: "integer", enum: [1, 2] },
      { type: "integer", description: "(one of: [1,2])" },
    ],
    [
      "an unknown format is described",
      { type: "string", format: "uri", description: "Where." },
      { type: "string", description: "Where. (format: uri)" },
    ],
    ["a known format stays", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    [
      "rules about names are left out",
      { type: "object", additionalProperties: { type: "string" }, propertyNames: {} },
      { type: "object" },
    ],
    [
      "patterns of names are described",
      { type: "object", patternProperties: { a: true } },
      { type: "object", description: '(patternProperties: {"a":true})' },
    ],
    [
      "an open limit of a whole number is closed",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      "of an open and a closed limit of a whole number the narrower one counts",
      { type: "integer", minimum: 5, exclusiveMinimum: 0, maximum: 7, exclusiveMaximum: 10.5 },
      { type: "integer", minimum: 5, maximum: 7 },
    ],
    [
      "an open limit of a number is described",
      { type: "number", exclusiveMinimum: 0 },
      { type: "number", description: "(exclusiveMinimum: 0)" },
    ],
    ["items without a schema are strings", { type: "array" }, { type: "array", items: { type: "string" } }],
    [
      "parts of a whole are one object",
      { allOf: [root({ a: { type: "string" } }, { required: ["a"] }), root({ b: { type: "string" } })] },
      { type: "object", properties: { b: { type: "string" }, a: { type: "string" } }, required: ["a"] },
    ],
    [
      "what schemas say about themselves is left out",
      { type: "string", $comment: "x", examples: ["a"] },
      { type: "string" },
    ],
  ];
  test.each(cases)("%s", (_name, given, made) => {
    expect(schemaForProvider(root({ x: given }), "google")).toEqual({ kind: "ok", schema: root({ x: made }) });
  });

  test("references are written out, and one without an end is cut", () => {
    const schema = root(
      { a: { $ref: "#/$defs/n", description: "The tree." } },
      { $defs: { n: root({ n: { $ref: "#/$defs/n" } }) } },
    );
    const made = JSON.stringify(schemaForProvider(schema, "google"));
    expect(made).not.toContain("$ref");
    expect(made).toContain("The tree.");
  });

  const fan = (levels: number, width: number): SchemaNode => {
    const names = Array.from({ length: width }, (_, at) => `p${at}`);
    const next = (level: number) => Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/l${level}` }]));
    const defs = Array.from({ length: levels }, (_, level) => [`l${level}`, root(next(Math.min(level + 1, levels)))]);
    return root(next(0), { $defs: { ...Object.fromEntries(defs), [`l${levels}`]: { type: "string" } } });
  };
  test.each<[name: string, schema: SchemaNode]>([
    ["each level refers many times to the next, more than there is room for", fan(3, 90)],
    ["each level refers many times to the next", fan(8, 12)],
    [
      "a schema refers many times to itself",
      root(Object.fromEntries("abcdefghijkl".split("").map((name) => [name, { $ref: "#" }]))),
    ],
  ])("a schema in which %s is written out less deep, stays small, and says so", (_name, schema) => {
    const made = schemaForProvider(schema, "google");
    expect(made).toMatchObject({ kind: "ok", because: expect.stringMatching(/written out \d of 8 levels deep/) });
    expect(made.kind === "ok" && Object.keys(made.schema.properties ?? {})).toEqual(
      Object.keys(schema.properties ?? {}),
    );
    expect(JSON.stringify(made).length).toBeLessThan(2 * JSON.stringify(schema).length + 65 * 1024);
    expect(JSON.stringify(made)).not.toContain("$ref");
  });

  test("the schemas of 537 real tools stay small, and take less than a second of computing together", () => {
    const before = process.cpuUsage();
    const grown = corpus.filter(({ inputSchema }) => {
      const size = JSON.stringify(schemaForProvider(inputSchema, "google")).length;
      return size > 2 * JSON.stringify(inputSchema).length + 65 * 1024;
    });
    const { user, system } = process.cpuUsage(before);
    expect(grown.map(({ name }) => name)).toEqual([]);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  test("no schema of a real tool keeps a word that Google does not know", () => {
    const known =
      /^(?:anyOf|default|description|enum|format|items|max(?:Items|Length|Properties|imum)|min(?:Items|Length|Properties|imum)|nullable|pattern|properties|required|title|type)$/;
    const wrong = corpus.flatMap((tool) => {
      const made = schemaForProvider(tool.inputSchema, "google");
      const nodes = made.kind === "ok" ? everyNode(made.schema) : [];
      const words = nodes.flatMap((node) => Object.keys(node)).filter((word) => !known.test(word));
      const lists = nodes.filter(
        ({ type, enum: values }) =>
          Array.isArray(type) ||
          (Array.isArray(values) && (type !== "string" || values.some((value) => typeof value !== "string"))),
      );
      return [...words, ...lists].map((what) => `${serverOf(tool)} ${tool.name}: ${JSON.stringify(what)}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe("for OpenAI's strict mode", () => {
  const strict = (properties: object) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
  const cases: readonly [name: string, given: object, made: object][] = [
    ["an optional string may be null", { type: "string" }, { type: ["string", "null"] }],
    [
      "an optional list of values has null in it",
      { type: "string", enum: ["a"] },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    [
      "optional forms have null among them",
      { anyOf: [{ type: "string" }, { type: "integer" }] },
      { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
    ],
    ["what may be null already stays", { type: ["string", "null"] }, { type: ["string", "null"] }],
    ["an optional constant is a form beside null", { const: "a" }, { anyOf: [{ const: "a" }, { type: "null" }] }],
    [
      "oneOf is anyOf",
      { oneOf: [{ type: "string" }, { type: "null" }] },
      { anyOf: [{ type: "string" }, { type: "null" }, { type: "null" }] },
    ],
    [
      "lengths and defaults are described",
      { type: "string", minLength: 1, default: "a", description: "Text." },
      { type: ["string", "null"], description: 'Text. (minLength: 1; default: "a")' },
    ],
    [
      "limits of numbers stay",
      { type: "integer", minimum: 1, multipleOf: 2 },
      { type: ["integer", "null"], minimum: 1, multipleOf: 2 },
    ],
    ["a known format stays", { type: "string", format: "email" }, { type: ["string", "null"], format: "email" }],
    [
      "another format is described",
      { type: "string", format: "uri" },
      { type: ["string", "null"], description: "(format: uri)" },
    ],
    [
      "nothing stands beside a reference",
      { $ref: "#/$defs/a", description: "x" },
      { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] },
    ],
    [
      "inner objects are closed",
      root({ a: { type: "string" } }, { required: ["a"] }),
      { ...strict({ a: { type: "string" } }), type: ["object", "null"] },
    ],
    [
      "lists keep their items",
      { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 2 },
      { type: ["array", "null"], items: { type: "string", description: "(maxLength: 3)" }, maxItems: 2 },
    ],
  ];
  test.each(cases)("%s", (_name, given, made) => {
    expect(schemaForProvider(root({ x: given }), "openai-strict")).toEqual({ kind: "ok", schema: strict({ x: made }) });
  });

  test.each(["$defs", "definitions"])("a required property stays as it is, and %s are closed too", (where) => {
    const schema = root(
      { x: { $ref: `#/${where}/a` } },
      { required: ["x"], [where]: { a: root({ y: { type: "string" } }) } },
    );
    expect(schemaForProvider(schema, "openai-strict")).toEqual({
      kind: "ok",
      schema: {
        ...strict({ x: { $ref: `#/${where}/a` } }),
        [where]: { a: strict({ y: { type: ["string", "null"] } }) },
      },
    });
  });

  test.each<[keyword: string, value: unknown]>([
    ["title", "T"],
    ["description", "D."],
    ["enum", ["a"]],
    ["const", "a"],
    ["pattern", "^a"],
    ["multipleOf", 2],
    ...["minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map(
      (keyword): [string, unknown] => [keyword, 3],
    ),
    ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"].map(
      (format): [string, unknown] => ["format", format],
    ),
  ])("%s %p is known there and stays as it is", (keyword, value) => {
    const given = { type: "string", [keyword]: value };
    const made = schemaForProvider(root({ x: given }, { required: ["x"] }), "openai-strict");
    expect(made).toEqual({ kind: "ok", schema: strict({ x: given }) });
  });

  test.each([
    ["an object with free names", { type: "object", additionalProperties: { type: "string" } }],
    ["an object with free names", root({ a: { type: "string" } }, { additionalProperties: { type: "string" } })],
    ["an object with free names", { type: "object" }],
    ["an object with free names", { anyOf: [{ type: "object" }, { type: "array" }] }],
    ["a place without a type", true],
    ["a place without a type", { anyOf: [{}, { type: "object" }] }],
    [
      "more than 5000 properties",
      root(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: "string" }]))),
    ],
    ["a place without a type", {}],
    ["a place without a type", { type: "array" }],
    ["patternProperties", { type: "object", patternProperties: {} }],
    ["prefixItems", { type: "array", prefixItems: [{ type: "string" }] }],
    ["more than 1000 listed values", { enum: Array.from({ length: 1_001 }, (_, index) => index) }],
    [
      "more than 10 levels of objects",
      Array.from({ length: 10 }).reduce<object>((inner) => root({ x: inner }), { type: "string" }),
    ],
  ])("%s cannot be said", (because, given) => {
    expect(schemaForProvider(root({ x: given }), "openai-strict")).toEqual({ kind: "unsupported", because });
  });

  test("every object of a real tool's schema is closed and complete, or the schema is said to be unsupported", () => {
    const made = corpus.map((tool) => schemaForProvider(tool.inputSchema, "openai-strict"));
    const objects = made
      .flatMap((each) => (each.kind === "ok" ? everyNode(each.schema) : []))
      .filter(({ properties }) => properties !== undefined);
    const loose = objects.filter(
      (node) =>
        node.additionalProperties !== false || !Bun.deepEquals(node.required, Object.keys(node.properties ?? {})),
    );
    expect(loose).toEqual([]);
    expect(made.filter(({ kind }) => kind === "ok").length).toBeGreaterThan(400);
  });
});

test.each(["$schema", "$id", "$anchor", "$comment", "$vocabulary", "$dynamicAnchor", "examples", "deprecated"])(
  "%s, which is only about the schema itself, is told to no provider",
  (keyword) => {
    const given = root({ x: { type: "string", [keyword]: "about" } }, { required: ["x"] });
    for (const family of ["google", "openai-strict"] as const)
      expect(JSON.stringify(schemaForProvider(given, family))).not.toContain("about");
  },
);

describe("schemas of many tools", () => {
  const parameters = root({ x: { type: "string" } });

  test("are rewritten once for each family", async () => {
    const schemaOf = createProviderSchemas();
    const google = await schemaOf({ name: "a", parameters }, "google");
    expect(await schemaOf({ name: "b", parameters }, "google")).toBe(google);
    expect(await schemaOf({ name: "a", parameters }, "openai-strict")).toEqual(
      schemaForProvider(parameters, "openai-strict"),
    );
  });

  test("are not shown to Google for a tool whose name it refuses", async () => {
    const schemaOf = createProviderSchemas();
    expect(await schemaOf({ name: "1a", parameters }, "google")).toMatchObject({ kind: "unsupported" });
    expect(await schemaOf({ name: "1a", parameters }, "openai-strict")).toMatchObject({ kind: "ok" });
    expect(await schemaOf({ name: "_a", parameters }, "google")).toMatchObject({ kind: "ok" });
  });
});
