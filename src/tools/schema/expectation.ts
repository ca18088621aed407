/** What a schema expects, in a few words that a model can act on: "a whole number from 1 to 10", `one of "asc", "desc"`. */
import { isNode, type Schema, type SchemaNode } from "./keywords.ts";

const MAX_LISTED_VALUES = 20;
const MAX_VALUE_CHARS = 80;
const MAX_FORMS = 6;
const MAX_REFS = 8;

const NOUNS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

type Follow = (node: SchemaNode) => Schema | undefined;

export function expectation(schema: Schema, follow: Follow, hops = MAX_REFS): string {
  if (schema === false) return "nothing at all";
  if (schema === true) return "any value";
  if (Array.isArray(schema.enum)) return listed(schema.enum);
  if (Object.hasOwn(schema, "const")) return shown(schema.const);
  const target = follow(schema);
  if (target !== undefined && schema.type === undefined)
    return hops > 0 ? expectation(target, follow, hops - 1) : "a value";
  const forms = [schema.anyOf, schema.oneOf].find(Array.isArray) as readonly Schema[] | undefined;
  if (forms && schema.type === undefined && hops > 0)
    return either([...new Set(forms.map((form) => expectation(form, follow, hops - 1)))].slice(0, MAX_FORMS));
  const types = [schema.type ?? []].flat().filter((type) => typeof type === "string");
  if (types.length === 0) return "a value";
  return either(types.map((type) => ofType(schema, type, follow, hops)));
}

function ofType(schema: SchemaNode, type: string, follow: Follow, hops: number): string {
  const noun = NOUNS[type] ?? "a value";
  if (type === "string") return `${noun}${textLimits(schema)}`;
  if (type === "number" || type === "integer") return `${noun}${numberLimits(schema)}`;
  if (type !== "array") return noun;
  const items = isNode(schema.items) && hops > 0 ? `, each ${expectation(schema.items, follow, hops - 1)}` : "";
  return `${noun}${span(schema.minItems, schema.maxItems, "items")}${items}`;
}

function textLimits({ minLength, maxLength, format, pattern }: SchemaNode): string {
  const as = typeof format === "string" ? ` in the format ${format}` : "";
  const like = typeof pattern === "string" && pattern.length <= MAX_VALUE_CHARS ? ` that matches ${pattern}` : "";
  return `${span(minLength, maxLength, "characters")}${as}${like}`;
}

function span(least: unknown, most: unknown, what: string): string {
  if (typeof most === "number") return ` of ${typeof least === "number" ? least : 0} to ${most} ${what}`;
  return typeof least === "number" && least > 0
    ? ` of at least ${least} ${least === 1 ? what.slice(0, -1) : what}`
    : "";
}

function numberLimits({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: SchemaNode): string {
  const parts: string[] = [];
  if (typeof minimum === "number" && typeof maximum === "number") parts.push(`from ${minimum} to ${maximum}`);
  else if (typeof minimum === "number") parts.push(`of at least ${minimum}`);
  else if (typeof maximum === "number") parts.push(`of at most ${maximum}`);
  if (typeof exclusiveMinimum === "number") parts.push(`above ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === "number") parts.push(`below ${exclusiveMaximum}`);
  if (typeof multipleOf === "number") parts.push(`that is a multiple of ${multipleOf}`);
  return parts.length === 0 ? "" : ` ${parts.join(" and ")}`;
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

function listed(values: readonly unknown[]): string {
  if (values.length === 0) return "nothing at all";
  if (values.length === 1) return shown(values[0]);
  const more = values.length > MAX_LISTED_VALUES ? ` (and ${values.length - MAX_LISTED_VALUES} more)` : "";
  return `one of ${values.slice(0, MAX_LISTED_VALUES).map(shown).join(", ")}${more}`;
}

export function either(choices: readonly string[]): string {
  return choices.length < 2 ? (choices[0] ?? "a value") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
