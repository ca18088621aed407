/**
 * Tool schemas and call ids as families of model providers take them. pi speaks to providers itself and rewrites both for them, so nothing
 * in the way of a message calls this: it is for programs that show the gateway's tools to a model themselves (`GET /api/tools?profile=`).
 */
import type { SchemaNode } from "../keywords.ts";
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

type IdFamily = "mistral" | "openai" | "anthropic";

interface IdRule {
  readonly valid: RegExp;
  readonly chars: number;
}

/** Mistral wants nine letters or digits, no more and no fewer. The others set a longest length and allow _ and - as well. */
const ID_RULES: Readonly<Record<IdFamily, IdRule>> = {
  mistral: { valid: /^[a-zA-Z0-9]{9}$/, chars: 9 },
  openai: { valid: /^[a-zA-Z0-9_-]{1,40}$/, chars: 40 },
  anthropic: { valid: /^[a-zA-Z0-9_-]{1,64}$/, chars: 64 },
};

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The same id always becomes the same one, so that a call and its result still meet. One that is right already stays. */
export function idForProvider(id: string, family: IdFamily): string {
  const { valid, chars } = ID_RULES[family];
  if (valid.test(id)) return id;
  let rest = BigInt(`0x${new Bun.CryptoHasher("sha512").update(id).digest("hex")}`);
  let made = "";
  for (; made.length < chars; rest /= 62n) made += LETTERS.charAt(Number(rest % 62n));
  return made;
}
