/**
 * Tool schemas as families of model providers take them. pi speaks to providers itself and rewrites schemas for them, so nothing
 * in the way of a message calls this: it is for programs that show the gateway's tools to a model themselves (`GET /api/tools?profile=`).
 */
import type { SchemaNode } from "../../../kit/schema/keywords.ts";
import { forGoogle } from "./google.ts";
import { forStrictOpenAi } from "./openai-strict.ts";
import type { ProviderSchema } from "./profile.ts";

export const SCHEMA_FAMILIES = ["google", "openai-strict"] as const;
export type SchemaFamily = (typeof SCHEMA_FAMILIES)[number];

/** For many tools, again and again: each schema is rewritten once, and the event loop is free between two of them. */
export function createProviderSchemas(): (tool: ProviderTool, family: SchemaFamily) => Promise<ProviderSchema> {
  const made = new WeakMap<SchemaNode, Map<SchemaFamily, ProviderSchema>>();
  return async ({ name, parameters }, family) => {
    if (family === "google" && !GOOGLE_NAME.test(name))
      return { kind: "unsupported", because: "its name does not begin with a letter or _" };
    const known = made.get(parameters) ?? new Map<SchemaFamily, ProviderSchema>();
    made.set(parameters, known);
    const schema = known.get(family);
    if (schema) return schema;
    await new Promise((resolve) => setImmediate(resolve));
    const fresh = schemaForProvider(parameters, family);
    known.set(family, fresh);
    return fresh;
  };
}

const GOOGLE_NAME = /^[A-Za-z_]/;

interface ProviderTool {
  readonly name: string;
  readonly parameters: SchemaNode;
}

/** Of a schema that compileSchema has found usable. */
export function schemaForProvider(schema: SchemaNode, family: SchemaFamily): ProviderSchema {
  return family === "google" ? forGoogle(schema) : forStrictOpenAi(schema);
}
