/** Schema → the words that fit after "it must be". The only place where kinds of settings get a human name. */
import { choicesOf, recordOf, type SchemaNode } from "../schema-node.ts";

export function expectation(schema: SchemaNode): string {
  if (schema.expects) return schema.expects;
  const choices = choicesOf(schema);
  if (choices) return oneOf(choices);
  if (schema.duration) return durationText(schema);
  if (schema.type === "integer") return `a whole number${range(schema)}`;
  if (schema.type === "number") return `a number${range(schema)}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "string") return textText(schema);
  if (schema.type === "array") return listText(schema);
  return recordOf(schema) ? "a group of named entries in { }" : "a group of settings in { }";
}

function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  if (quoted.length <= 2) return quoted.join(" or ");
  return `one of ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function range({ minimum, maximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function durationText(schema: SchemaNode): string {
  return `a whole number of milliseconds${range(schema)}, or text such as "30s", "5m" or "2h"`;
}

function textText({ minLength, maxLength }: SchemaNode): string {
  if (maxLength !== undefined && minLength) return `text of ${minLength} to ${maxLength} characters`;
  if (maxLength !== undefined) return `text of at most ${maxLength} characters`;
  return minLength ? `text of at least ${minLength} character${minLength === 1 ? "" : "s"}` : "text";
}

function listText({ minItems, maxItems }: SchemaNode): string {
  if (minItems && maxItems) return `a list in [ ] with ${minItems} to ${maxItems} entries`;
  return maxItems ? `a list in [ ] with at most ${maxItems} entries` : "a list in [ ]";
}
