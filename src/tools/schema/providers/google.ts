/**
 * Google's function declarations in their older field `parameters`, a part of OpenAPI 3.0: one type per place and `nullable`, no references,
 * no `const`, no rules about unnamed properties, `enum` for strings alone, and few formats. (Its newer field takes JSON Schema as it is.)
 */
import { isObject } from "../../../kit/json.ts";
import type { Schema, SchemaNode } from "../../../kit/schema/keywords.ts";
import { resolveRef } from "../refs.ts";
import { type Draft, keepOnly, listOf, merged, nodesOf, type ProviderSchema, typesOf, withNotes } from "./profile.ts";

const KEPT = [
  ...["title", "description", "default", "nullable", "minimum", "maximum", "minLength", "maxLength", "pattern"],
  ...["minItems", "maxItems", "minProperties", "maxProperties"],
];
/** Written anew below, or without meaning where nothing else is. */
const HANDLED = [
  ...["type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "format"],
  ...["$ref", "$defs", "definitions", "additionalProperties", "propertyNames", "exclusiveMinimum", "exclusiveMaximum"],
];
const FORMATS = ["date-time", "enum", "float", "double", "int32", "int64"];
/** How deep references are written out: as deep as there is room for. */
const LEVELS = [8, 4, 2, 1] as const;
/** A schema may become twice as large, and a small one a little more. */
const GROWTH = 2;
const FREE_CHARS = 64 * 1024;

class NoRoom extends Error {}

/** What is written, and how much more may be. */
interface Sheet {
  readonly root: SchemaNode;
  chars: number;
}

export function forGoogle(root: SchemaNode): ProviderSchema {
  const chars = GROWTH * JSON.stringify(root).length + FREE_CHARS;
  for (const levels of LEVELS) {
    const schema = written({ root, chars }, levels);
    if (schema)
      return levels === LEVELS[0] ? { kind: "ok", schema } : { kind: "ok", schema, because: lessDeep(levels) };
  }
  // without references it is about as large as it came
  return { kind: "ok", schema: write({ root, chars: Number.POSITIVE_INFINITY }, root, 0), because: lessDeep(0) };
}

const lessDeep = (levels: number): string =>
  `references are written out ${levels} of ${LEVELS[0]} levels deep, because it would be too large otherwise`;

function written(sheet: Sheet, levels: number): Draft | null {
  try {
    return write(sheet, sheet.root, levels);
  } catch (error) {
    if (error instanceof NoRoom) return null;
    throw error;
  }
}

/** Counted while it is written: what does not fit is never made. */
function take(sheet: Sheet, own: Draft): Draft {
  sheet.chars -= JSON.stringify(own).length;
  if (sheet.chars < 0) throw new NoRoom();
  return own;
}

function write(sheet: Sheet, schema: Schema, inlined: number): Draft {
  if (typeof schema === "boolean") return take(sheet, { type: "string" });
  if (typeof schema.$ref === "string") return inline(sheet, schema, schema.$ref, inlined);
  const node = merged(schema);
  const draft = take(sheet, withNotes({ ...keepOnly(node, KEPT, HANDLED), ...limits(node) }, notes(node)));
  return { ...draft, ...kind(sheet, node, inlined) };
}

/** A reference is replaced by what it leads to; one that never ends becomes an object that is only described. */
function inline(sheet: Sheet, node: SchemaNode, ref: string, inlined: number): Draft {
  const resolved = resolveRef(sheet.root, ref, new Map());
  const said = take(sheet, typeof node.description === "string" ? { description: node.description } : {});
  if (inlined === 0 || resolved.kind === "refused") return { ...take(sheet, { type: "object" }), ...said };
  return { ...write(sheet, resolved.target, inlined - 1), ...said };
}

/** Whole numbers have a next one, so an open limit can be said as a closed one. Of two limits the narrower one counts. */
function limits(node: SchemaNode): Draft {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = node;
  if (!typesOf(node).includes("integer")) return {};
  const least = typeof node.minimum === "number" ? node.minimum : -Infinity;
  const most = typeof node.maximum === "number" ? node.maximum : Infinity;
  return {
    ...(typeof above === "number" ? { minimum: Math.max(least, Math.floor(above) + 1) } : {}),
    ...(typeof below === "number" ? { maximum: Math.min(most, Math.ceil(below) - 1) } : {}),
  };
}

function notes(node: SchemaNode): string[] {
  const open = typesOf(node).includes("integer") ? [] : (["exclusiveMinimum", "exclusiveMaximum"] as const);
  const values = Object.hasOwn(node, "const") ? [node.const] : listOf(node.enum);
  return [
    ...open
      .filter((keyword) => Object.hasOwn(node, keyword))
      .map((keyword) => `${keyword}: ${JSON.stringify(node[keyword])}`),
    ...(typeof node.format === "string" && !FORMATS.includes(node.format) ? [`format: ${node.format}`] : []),
    ...(values.some((value) => typeof value !== "string" && value !== null)
      ? [`one of: ${JSON.stringify(values)}`]
      : []),
  ];
}

function kind(sheet: Sheet, node: SchemaNode, inlined: number): Draft {
  const values = Object.hasOwn(node, "const") ? [node.const] : listOf(node.enum);
  if (values.length > 0) return take(sheet, listed(values));
  const forms = [...nodesOf(node.anyOf), ...nodesOf(node.oneOf)];
  const things = forms.filter((form) => form.type !== "null");
  const orNull = things.length < forms.length ? { nullable: true } : {};
  if (things.length > 0) return { ...choice(things.map((form) => write(sheet, form, inlined))), ...orNull };
  const types = typesOf(node);
  const real = types.filter((type) => type !== "null");
  const nullable = real.length < types.length ? { nullable: true } : {};
  if (real.length > 1)
    return {
      ...choice(real.map((type) => write(sheet, { ...node, type, description: undefined }, inlined))),
      ...nullable,
    };
  return { ...ofType(sheet, node, real[0] ?? guess(node), inlined), ...nullable };
}

const guess = (node: SchemaNode): string => (isObject(node.properties) ? "object" : "string");

function listed(values: readonly unknown[]): Draft {
  const nullable = values.includes(null) ? { nullable: true } : {};
  const real = values.filter((value) => value !== null);
  if (real.every((value) => typeof value === "string")) return { type: "string", enum: real, ...nullable };
  const type = real.every(Number.isInteger) ? "integer" : typeof real[0];
  return { type: type === "object" ? "object" : type, ...nullable };
}

/** One form stands for itself, and strings among lists of strings are one list. */
function choice(forms: readonly Draft[]): Draft {
  const nullable = forms.some((form) => form.nullable === true) ? { nullable: true } : {};
  const [first, ...others] = forms;
  if (first && others.length === 0) return first;
  if (forms.every((form) => Array.isArray(form.enum)))
    return { type: "string", enum: [...new Set(forms.flatMap((form) => listOf(form.enum)))], ...nullable };
  return { anyOf: forms, ...nullable };
}

function ofType(sheet: Sheet, node: SchemaNode, type: string, inlined: number): Draft {
  const format = typeof node.format === "string" && FORMATS.includes(node.format) ? { format: node.format } : {};
  if (type === "array") return { type, items: write(sheet, isObject(node.items) ? node.items : true, inlined) };
  if (type !== "object") return { type, ...format };
  if (!isObject(node.properties)) return { type };
  const properties = Object.fromEntries(
    Object.entries(node.properties).map(([name, part]) => [name, write(sheet, part as Schema, inlined)]),
  );
  const required = listOf(node.required).filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  take(sheet, { names: Object.keys(properties), required });
  return { type, properties, ...(required.length > 0 ? { required } : {}) };
}
