/** The schema of a plugin's settings: a misspelt keyword, above all `secret`, would be ignored, so every keyword must be one there is. Pure. */
import { nearest } from "../../kit/nearest.ts";

const OF_SCHEMAS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const SCHEMAS = ["items", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const LIMITS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"];
const COUNTS = ["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains"];
const WORDS = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "secret"];
const OTHERS = ["type", "enum", "const", "format", "pattern", "required", "dependentRequired", "propertyNames"];
const NAMES = ["$schema", "$id", "$ref", "$anchor", "$comment", "unevaluatedProperties", "unevaluatedItems"];
const KEYWORDS: readonly string[] = [
  ...OF_SCHEMAS,
  ...SCHEMAS,
  ...LISTS,
  ...LIMITS,
  ...COUNTS,
  ...WORDS,
  ...OTHERS,
  ...NAMES,
];
const MAX_SHOWN_CHARS = 64;

/** A sentence about the first mistake; null: there is none. Keywords that begin with `x-` are the plugin's own. */
export function wrongKeyword(schema: unknown, path = "config"): string | null {
  if (!isObject(schema)) return null;
  for (const [key, below] of Object.entries(schema)) {
    if (!KEYWORDS.includes(key) && !key.startsWith("x-")) {
      const close = nearest(key, KEYWORDS);
      const hint = close === null ? "Begin a keyword of your own with x-." : `Did you mean ${close}?`;
      return `${path} has "${key.slice(0, MAX_SHOWN_CHARS)}", which is not a keyword of JSON Schema. ${hint}`;
    }
    if (key === "secret" && typeof below !== "boolean") return `${path}.secret must be true or false.`;
    const wrong = wrongBelow(key, below, path);
    if (wrong !== null) return wrong;
  }
  return null;
}

function wrongBelow(key: string, below: unknown, path: string): string | null {
  if (SCHEMAS.includes(key) && !Array.isArray(below)) return wrongKeyword(below, `${path}.${key}`);
  const isMap = OF_SCHEMAS.includes(key) && isObject(below);
  const isList = (LISTS.includes(key) || SCHEMAS.includes(key)) && Array.isArray(below);
  for (const [name, one] of isMap || isList ? Object.entries(below as object) : []) {
    const wrong = wrongKeyword(one, `${path}.${key}.${name}`);
    if (wrong !== null) return wrong;
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
