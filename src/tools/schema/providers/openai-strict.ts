/**
 * OpenAI's strict mode: every object is closed and requires all its properties, one that may be left out may be null instead, and only a
 * part of the keywords exists. Objects with free names cannot be said; such a tool is to be sent without strict mode.
 */
import { isObject } from "../../../kit/json.ts";
import type { Schema, SchemaNode } from "../../../kit/schema/keywords.ts";
import { type Draft, keepOnly, listOf, merged, nodesOf, type ProviderSchema, typesOf, withNotes } from "./profile.ts";

const STRICT_LIMITS = { maxProperties: 5_000, maxLevels: 10, maxEnumValues: 1_000 } as const;

const KEPT = [
  ...["title", "description", "type", "enum", "const", "pattern", "multipleOf", "minItems", "maxItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
];
const HANDLED = [
  ...["properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf", "format"],
  ...["$ref", "$defs", "definitions", "propertyNames", "nullable"],
];
const FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const NO_WORD_FOR = ["patternProperties", "prefixItems", "unevaluatedProperties", "additionalItems", "$dynamicRef"];

interface Tally {
  properties: number;
  enumValues: number;
  levels: number;
  unsupported: string | null;
}

export function forStrictOpenAi(root: SchemaNode): ProviderSchema {
  const tally: Tally = { properties: 0, enumValues: 0, levels: 0, unsupported: null };
  const schema = write(root, tally, 0);
  const because = tally.unsupported ?? beyond(tally);
  return because === null ? { kind: "ok", schema } : { kind: "unsupported", because };
}

function beyond({ properties, enumValues, levels }: Tally): string | null {
  const { maxProperties, maxLevels, maxEnumValues } = STRICT_LIMITS;
  if (properties > maxProperties) return `more than ${maxProperties} properties`;
  if (levels > maxLevels) return `more than ${maxLevels} levels of objects`;
  return enumValues > maxEnumValues ? `more than ${maxEnumValues} listed values` : null;
}

function write(schema: Schema, tally: Tally, level: number): Draft {
  if (typeof schema === "boolean") return unsupported(tally, "a place without a type");
  if (typeof schema.$ref === "string" && level > 0) return { $ref: schema.$ref }; // nothing may stand beside it
  const node = merged(schema);
  const missing = NO_WORD_FOR.find((keyword) => Object.hasOwn(node, keyword));
  if (missing !== undefined) return unsupported(tally, missing);
  tally.enumValues += listOf(node.enum).length;
  const format = typeof node.format === "string" ? node.format : null;
  const known = format !== null && FORMATS.includes(format);
  return {
    ...withNotes(keepOnly(node, KEPT, HANDLED), format === null || known ? [] : [`format: ${format}`]),
    ...(known ? { format } : {}),
    ...structure(node, tally, level),
    ...definitions(node, tally),
  };
}

function unsupported(tally: Tally, what: string): Draft {
  tally.unsupported ??= what;
  return {};
}

function structure(node: SchemaNode, tally: Tally, level: number): Draft {
  const forms = [...nodesOf(node.anyOf), ...nodesOf(node.oneOf)];
  if (forms.length > 0) return { anyOf: forms.map((form) => write(form, tally, level)) };
  const types = typesOf(node);
  if (types.includes("object") || isObject(node.properties)) return object(node, tally, level + 1);
  if (types.includes("array")) return { items: write((node.items ?? true) as Schema, tally, level) };
  if (types.length === 0 && !Object.hasOwn(node, "enum") && !Object.hasOwn(node, "const"))
    return unsupported(tally, "a place without a type");
  return {};
}

function object(node: SchemaNode, tally: Tally, level: number): Draft {
  const { additionalProperties: others } = node;
  const named = isObject(node.properties) ? Object.entries(node.properties) : [];
  if (isObject(others) || (named.length === 0 && others !== false && level > 1))
    return unsupported(tally, "an object with free names");
  tally.properties += named.length;
  tally.levels = Math.max(tally.levels, level);
  const required = listOf(node.required);
  const properties = named.map(([name, part]) => {
    const written = write(part as Schema, tally, level);
    return [name, required.includes(name) ? written : orNull(written)] as const;
  });
  const names = named.map(([name]) => name);
  return { properties: Object.fromEntries(properties), required: names, additionalProperties: false };
}

/** "May be left out" becomes "may be null". */
function orNull(draft: Draft): Draft {
  const types = typesOf(draft);
  if (types.includes("null")) return draft;
  if (Array.isArray(draft.anyOf)) return { ...draft, anyOf: [...draft.anyOf, { type: "null" }] };
  if (types.length === 0 || Object.hasOwn(draft, "const")) return { anyOf: [draft, { type: "null" }] };
  return {
    ...draft,
    type: [...types, "null"],
    ...(Array.isArray(draft.enum) ? { enum: [...draft.enum, null] } : {}),
  };
}

function definitions(node: SchemaNode, tally: Tally): Draft {
  const kept: Draft = {};
  for (const keyword of ["$defs", "definitions"]) {
    const held = node[keyword];
    if (!isObject(held)) continue;
    kept[keyword] = Object.fromEntries(
      Object.entries(held).map(([name, part]) => [name, write(part as Schema, tally, 1)]),
    );
  }
  return kept;
}
