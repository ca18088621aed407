/** A required text that is empty counts as missing, unless the schema itself says that it may be empty. Pure. */
import type { Problem } from "../explain.ts";
import { isObject } from "../../../kit/json.ts";
import type { SchemaNode } from "../../../kit/schema/keywords.ts";

export function emptyRequired(schema: SchemaNode, params: unknown): readonly Problem[] {
  const { properties, required } = schema;
  if (!isObject(params) || !Array.isArray(required)) return [];
  return required.map(String).flatMap((name) => {
    if (!Object.hasOwn(params, name) || params[name] !== "") return [];
    const known = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : {};
    if (mayBeEmpty(known)) return [];
    return [{ path: name, message: "is missing: the text is empty. Give its value." }];
  });
}

function mayBeEmpty(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  return schema.minLength === 0 || schema.const === "" || schema.default === "" || values.includes("");
}
