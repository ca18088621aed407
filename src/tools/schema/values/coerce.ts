/**
 * The one rule for parameters that are written in another form than the schema asks for, on every path. Text that is exactly a JSON number,
 * `true` or `false` becomes that value, text that is a JSON list or object becomes it, a number becomes text; null for a property that may be
 * left out, or has a default, counts as left out. Nothing else is changed: null is no value, and true is no number. Never decides.
 */
import { isObject, parseJson } from "../../../kit/json.ts";
import { createBudget, MAX_CHECK_STEPS, TooMuchWork } from "../budget.ts";
import type { Inspected } from "../inspect.ts";
import type { Schema, SchemaNode } from "../../../kit/schema/keywords.ts";
import { MAX_VALUE_DEPTH } from "../plain-value.ts";

interface Coercion {
  readonly refs: Inspected["refs"];
  spend(steps: number): void;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const TEXT_LIMITS = { maxChars: 256 * 1024, maxDepth: MAX_VALUE_DEPTH };

/** The very same value when nothing has to change. */
export function coerceValue({ root, refs }: Inspected, value: unknown): unknown {
  const { spend } = createBudget(MAX_CHECK_STEPS);
  try {
    return coerced({ refs, spend }, root, value, MAX_VALUE_DEPTH);
  } catch (error) {
    if (error instanceof TooMuchWork) return value; // the check says so
    throw error;
  }
}

function coerced(coercion: Coercion, schema: Schema | undefined, value: unknown, levels: number): unknown {
  if (!isObject(schema) || levels === 0) return value;
  const types = typesOf(coercion, schema, levels);
  const made = types === null || types.some((type) => isOf(type, value)) ? value : converted(types, value);
  if (typeof made !== "object" || made === null) return made;
  return partsOf(coercion, schema, levels).reduce((held: unknown, part) => {
    if (Array.isArray(held)) return coercedItems(coercion, part, held, levels);
    return isObject(held) ? coercedProperties(coercion, part, held, levels) : held;
  }, made);
}

/** The schema itself and all that hold at the same place without a choice; of forms to choose from, one that is the only list or object. */
function partsOf(coercion: Coercion, schema: SchemaNode, levels: number): readonly SchemaNode[] {
  coercion.spend(1);
  if (levels === 0) return [];
  const sure = [coercion.refs.get(schema), ...listOf(schema.allOf)];
  const forms = [schema.anyOf, schema.oneOf].flatMap((held) => {
    const nodes = listOf(held).filter((form) => {
      const types = isObject(form) ? typesOf(coercion, form, levels - 1) : null;
      return types === null || types.some((type) => type === "object" || type === "array");
    });
    return nodes.length === 1 ? nodes : [];
  });
  return [schema, ...[...sure, ...forms].filter(isObject).flatMap((part) => partsOf(coercion, part, levels - 1))];
}

/** Null: any. */
function typesOf(coercion: Coercion, schema: Schema, levels: number): readonly string[] | null {
  coercion.spend(1);
  if (!isObject(schema) || levels === 0) return null;
  if (schema.type !== undefined) return [schema.type].flat().map(String);
  const values = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, "const") ? [schema.const] : null;
  if (values) return [...new Set(values.map(typeOf))];
  for (const part of [coercion.refs.get(schema), ...listOf(schema.allOf)]) {
    const types = part === undefined ? null : typesOf(coercion, part, levels - 1);
    if (types) return types;
  }
  for (const forms of [listOf(schema.anyOf), listOf(schema.oneOf)]) {
    const types = forms.map((form) => typesOf(coercion, form, levels - 1));
    if (types.length > 0 && types.every((one) => one !== null)) return [...new Set(types.flat())];
  }
  return null;
}

const listOf = (held: unknown): readonly Schema[] => (Array.isArray(held) ? (held as Schema[]) : []);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isOf(type: string, value: unknown): boolean {
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type;
}

function converted(types: readonly string[], value: unknown): unknown {
  if (typeof value === "number" && types.includes("string") && isExact(value)) return String(value);
  if (typeof value !== "string") return value;
  if (types.includes("boolean") && (value === "true" || value === "false")) return value === "true";
  if (JSON_NUMBER.test(value)) {
    const number = Number(value);
    const fits = types.includes("number") || (types.includes("integer") && Number.isInteger(number));
    return fits && isExact(number) ? number : value;
  }
  if (!types.some((type) => type === "array" || type === "object")) return value;
  const parsed = parseJson(value, TEXT_LIMITS);
  return parsed.ok && typeof parsed.value === "object" && types.includes(typeOf(parsed.value)) ? parsed.value : value;
}

/** Digits that a number cannot hold, such as those of a long id, are not lost on the way. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function coercedItems(coercion: Coercion, { items }: SchemaNode, value: readonly unknown[], levels: number): unknown {
  if (!isObject(items)) return value;
  const made = value.map((item) => coerced(coercion, items, item, levels - 1));
  return made.every((item, at) => item === value[at]) ? value : made;
}

function coercedProperties(coercion: Coercion, schema: SchemaNode, value: SchemaNode, levels: number): unknown {
  const { properties } = schema;
  if (!isObject(properties)) return value;
  const required = listOf(schema.required).map(String);
  const made = Object.entries(value).flatMap(([name, held]): [string, unknown][] => {
    const part = Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined;
    if (held === null && isLeftOut(coercion, part, required.includes(name))) return [];
    return [[name, coerced(coercion, part, held, levels - 1)]];
  });
  const same = made.length === Object.keys(value).length && made.every(([name, held]) => value[name] === held);
  return same ? value : Object.fromEntries(made); // not by assignment: a property may be called __proto__
}

function isLeftOut(coercion: Coercion, schema: Schema | undefined, isRequired: boolean): boolean {
  if (!isObject(schema) || (isRequired && !Object.hasOwn(schema, "default"))) return false;
  const types = typesOf(coercion, schema, MAX_VALUE_DEPTH);
  return types !== null && !types.includes("null");
}
