/** What a JSON Schema expects, in words that fit after "must be": "a whole number from 1 to 10", `"asc" or "desc"`. Decides nothing. */
import { counted } from "../counted.ts";
import { isObject } from "../json.ts";

export type SchemaNode = Readonly<Record<string, unknown>>;
export type Schema = SchemaNode | boolean;

/** Where the `$ref` of a node leads; undefined: it has none. */
type Follow = (node: SchemaNode) => Schema | undefined;

const MAX_LISTED_VALUES = 20;
const MAX_VALUE_CHARS = 80;
const MAX_FORMS = 6;
const MAX_LEVELS = 8;

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object in { }",
  array: "a list in [ ]",
  null: "null",
  function: "a function",
};

/** A schema that says it better itself does so in `expects`. */
export function expectation(schema: Schema, follow: Follow = () => undefined, levels = MAX_LEVELS): string {
  if (schema === false) return "nothing at all";
  if (schema === true) return "any value";
  if (typeof schema.expects === "string") return schema.expects;
  const values = allowedValues(schema);
  if (values) return listed(values);
  const types = [schema.type ?? []].flat().filter((type) => typeof type === "string");
  if (types.length > 0) return either(types.map((type) => ofType(schema, type, follow, levels)));
  const target = follow(schema);
  const forms = target === undefined ? formsOf(schema) : [target];
  if (forms === null || levels === 0) return "a value";
  return either([...new Set(forms.map((form) => expectation(form, follow, levels - 1)))].slice(0, MAX_FORMS));
}

/** The values that a schema lists one by one: `enum`, `const`, or forms that are each one value. Null: it does not. */
export function allowedValues(schema: SchemaNode): readonly unknown[] | null {
  if (Array.isArray(schema.enum)) return schema.enum;
  if (Object.hasOwn(schema, "const")) return [schema.const];
  const forms = formsOf(schema);
  if (!forms?.every((form) => typeof form === "object" && Object.hasOwn(form, "const"))) return null;
  return forms.map((form) => (form as SchemaNode).const);
}

function formsOf({ anyOf, oneOf }: SchemaNode): readonly Schema[] | null {
  const forms: unknown = anyOf ?? oneOf;
  return Array.isArray(forms) && forms.length > 0 ? (forms as readonly Schema[]) : null;
}

function ofType(schema: SchemaNode, type: string, follow: Follow, levels: number): string {
  const noun = NOUNS[type] ?? "a value";
  if (type === "string") return `${noun}${textLimits(schema)}`;
  if (type === "number" || type === "integer") return `${noun}${numberLimits(schema)}`;
  if (type !== "array") return noun;
  const { items, minItems, maxItems } = schema;
  const each = isObject(items) && levels > 0 ? `, each ${expectation(items, follow, levels - 1)}` : "";
  return `${noun}${span(minItems, maxItems, "item")}${each}`;
}

function textLimits({ minLength, maxLength, format, pattern }: SchemaNode): string {
  const written = typeof format === "string" ? ` in the format ${format}` : "";
  const matching = typeof pattern === "string" && pattern.length <= MAX_VALUE_CHARS ? ` that matches ${pattern}` : "";
  return `${span(minLength, maxLength, "character")}${written}${matching}`;
}

function span(least: unknown, most: unknown, noun: string): string {
  const hasLeast = typeof least === "number" && least > 0;
  if (typeof most === "number")
    return hasLeast ? ` of ${least} to ${counted(most, noun)}` : ` of at most ${counted(most, noun)}`;
  return hasLeast ? ` of at least ${counted(least, noun)}` : "";
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

function listed(values: readonly unknown[]): string {
  if (values.length === 0) return "nothing at all";
  const shown = values.slice(0, MAX_LISTED_VALUES).map(shownValue);
  if (values.length > shown.length) return `one of ${shown.join(", ")} (and ${values.length - shown.length} more)`;
  return shown.length > 2 ? `one of ${either(shown)}` : either(shown);
}

function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

/** `a`, `a or b`, `a, b or c`. */
function either(choices: readonly string[]): string {
  return choices.length < 2 ? (choices[0] ?? "a value") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
