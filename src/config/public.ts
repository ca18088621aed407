/** The configuration as it may be shown: an allow-list read from the schema. What the schema does not name is not shown. */
import { isSecret } from "../kit/secret.ts";
import type { Config } from "./schema.ts";
import { recordOf, rootSchema, type SchemaNode } from "./schema-node.ts";

export const publicConfig = (config: Config): unknown => publicView(rootSchema(), config);

/** Secrets appear as "set" or "not set". */
export function publicView(schema: SchemaNode, value: unknown): unknown {
  if (schema.secret) return value === undefined ? "not set" : "set";
  if (schema.free) return value === undefined ? "not set" : "set";
  if (isSecret(value)) return "set"; // not marked, but wrapped: still nobody's business
  if (schema.properties) return publicGroup(schema.properties, value);
  const record = recordOf(schema);
  if (record) return publicRecord(record.value, value);
  if (schema.items && Array.isArray(value)) {
    const { items } = schema;
    return value.map((item: unknown) => publicView(items, item));
  }
  const list = schema.anyOf?.find((one) => one.type === "array");
  if (list && Array.isArray(value)) return publicView(list, value);
  if (typeof value === "string") return withoutUserInfo(value);
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function publicGroup(properties: Readonly<Record<string, SchemaNode>>, value: unknown): Record<string, unknown> {
  const group = new Map(Object.entries(typeof value === "object" && value !== null ? value : {}));
  const shown: Record<string, unknown> = {};
  for (const [key, below] of Object.entries(properties)) {
    const view = publicView(below, group.get(key));
    if (view !== undefined) shown[key] = view;
  }
  return shown;
}

function publicRecord(below: SchemaNode, value: unknown): Record<string, unknown> {
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  return Object.fromEntries(entries.map(([name, entry]) => [name, publicView(below, entry)]));
}

/** `http://name:password@host` → `http://(hidden)@host`. */
/** Up to the last @ before the path: a password may have one in it. */
const withoutUserInfo = (text: string): string => text.replace(/(:\/\/)[^/?#\s]*@/g, "$1(hidden)@");
