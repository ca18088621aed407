/** JSON Schema as data: where subschemas sit, to what they apply, and how each keyword must be written. Drafts 7 and 2020-12. */
import { isObject } from "../json.ts";
import type { Schema, SchemaNode } from "./expectation.ts";

export type { Schema, SchemaNode } from "./expectation.ts";

/** `value`: the same value again. `child`: one known part of it. `each`: any number of its parts. `none`: only where a $ref points. */
type AppliesTo = "value" | "child" | "each" | "none";

interface Applicator {
  readonly holds: "one" | "list" | "map" | "one or list" | "map or names";
  readonly to: AppliesTo;
}

export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map([
  ["allOf", { holds: "list", to: "value" }],
  ["anyOf", { holds: "list", to: "value" }],
  ["oneOf", { holds: "list", to: "value" }],
  ["not", { holds: "one", to: "value" }],
  ["if", { holds: "one", to: "value" }],
  ["then", { holds: "one", to: "value" }],
  ["else", { holds: "one", to: "value" }],
  ["dependentSchemas", { holds: "map", to: "value" }],
  ["dependencies", { holds: "map or names", to: "value" }],
  ["properties", { holds: "map", to: "child" }],
  ["patternProperties", { holds: "map", to: "each" }],
  ["additionalProperties", { holds: "one", to: "each" }],
  ["propertyNames", { holds: "one", to: "each" }],
  ["unevaluatedProperties", { holds: "one", to: "each" }],
  ["prefixItems", { holds: "list", to: "child" }],
  ["items", { holds: "one or list", to: "each" }],
  ["additionalItems", { holds: "one", to: "each" }],
  ["contains", { holds: "one", to: "each" }],
  ["unevaluatedItems", { holds: "one", to: "each" }],
  ["$defs", { holds: "map", to: "none" }],
  ["definitions", { holds: "map", to: "none" }],
]);

interface Subschema {
  readonly keyword: string;
  /** The name or index below the keyword; null when the keyword holds the schema itself. */
  readonly at: string | null;
  readonly schema: unknown;
  readonly to: AppliesTo;
}

/** Every subschema of a node, whatever it is; strings in `dependencies` are names and not among them. */
export function subschemasOf(node: SchemaNode): Subschema[] {
  return Object.keys(node).flatMap((keyword): Subschema[] => {
    const applicator = APPLICATORS.get(keyword);
    const held = node[keyword];
    if (applicator === undefined) return [];
    const { holds, to } = applicator;
    if (holds === "one" || (holds === "one or list" && !Array.isArray(held)))
      return [{ keyword, at: null, schema: held, to }];
    if (Array.isArray(held)) return held.map((schema, index) => ({ keyword, at: String(index), schema, to }));
    if (!isObject(held)) return [];
    const entries = Object.entries(held).filter(([, schema]) => holds !== "map or names" || !Array.isArray(schema));
    return entries.map(([at, schema]) => ({ keyword, at, schema, to }));
  });
}

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isObject(value);

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

interface Shape {
  is(value: unknown): boolean;
  readonly say: string;
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");
const isType = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every((name) => TYPES.includes(name)) : TYPES.includes(value);

const count: Shape = {
  is: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  say: "must be a whole number, 0 or more",
};
const number: Shape = { is: (value) => Number.isFinite(value), say: "must be a number" };
const text: Shape = { is: (value) => typeof value === "string", say: "must be text" };
const schema: Shape = { is: isSchema, say: "must be a schema" };
const schemas: Shape = {
  is: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  say: "must be a list of schemas",
};
const schemaMap: Shape = {
  is: (value) => isObject(value) && Object.values(value).every(isSchema),
  say: "must be an object whose values are schemas",
};

const own: readonly (readonly [keyword: string, shape: Shape])[] = [
  ["type", { is: isType, say: `must be one of ${TYPES.join(", ")}, or a list of those` }],
  ["enum", { is: Array.isArray, say: "must be a list" }],
  ["required", { is: isNames, say: "must be a list of property names" }],
  ["multipleOf", { is: (value) => Number.isFinite(value) && Number(value) > 0, say: "must be a number above 0" }],
  ["uniqueItems", { is: (value) => typeof value === "boolean", say: "must be true or false" }],
  [
    "dependentRequired",
    {
      is: (value) => isObject(value) && Object.values(value).every(isNames),
      say: "must be an object whose values are lists of property names",
    },
  ],
  [
    "dependencies",
    {
      is: (value) => isObject(value) && Object.values(value).every((held) => isSchema(held) || isNames(held)),
      say: "must be an object whose values are schemas or lists of property names",
    },
  ],
  [
    "items",
    {
      is: (value) => isSchema(value) || (Array.isArray(value) && value.every(isSchema)),
      say: "must be a schema or a list of schemas",
    },
  ],
];

/** Keywords of the same shape, in one text each. */
const shared: readonly (readonly [keywords: string, shape: Shape])[] = [
  ["minimum maximum exclusiveMinimum exclusiveMaximum", number],
  ["minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains", count],
  ["pattern format $ref $id $anchor $schema", text],
  [
    "not if then else additionalProperties propertyNames unevaluatedProperties additionalItems contains unevaluatedItems",
    schema,
  ],
  ["allOf anyOf oneOf prefixItems", schemas],
  ["properties patternProperties dependentSchemas $defs definitions", schemaMap],
];

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ...own,
  ...shared.flatMap(([keywords, shape]) => keywords.split(" ").map((keyword) => [keyword, shape] as const)),
]);

/** Every keyword that says something about values. */
export const KEYWORDS: readonly string[] = [...SHAPES.keys(), "const"];

/** What is written wrongly in this node itself, or null. A keyword nobody knows is an annotation and never wrong. */
export function malformed(node: SchemaNode): string | null {
  for (const keyword of Object.keys(node)) {
    const shape = SHAPES.get(keyword);
    if (shape && !shape.is(node[keyword])) return `${keyword} ${shape.say}`;
  }
  return null;
}

/** Keywords that came after draft 7; a schema that says it is draft 7 or older does not mean them. */
export const SINCE_2019: readonly string[] = [
  "$anchor",
  "prefixItems",
  "minContains",
  "maxContains",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/** True when `$schema` says draft 7 or older: there, what stands beside a $ref does not count either. */
export function isBefore2019(root: SchemaNode): boolean {
  return typeof root.$schema === "string" && /json-schema\.org\/draft-0[3-7]\//.test(root.$schema);
}

/** True when `$schema` says 2020-12, where a tuple is written with prefixItems. */
export function is2020(root: SchemaNode): boolean {
  return typeof root.$schema === "string" && root.$schema.includes("json-schema.org/draft/2020-12/");
}
