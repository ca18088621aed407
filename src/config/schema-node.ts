/** The schema as plain data: the few keywords of JSON Schema that this module uses, plus our own marks. Knows no keys by name. */
import { ConfigSchema } from "./schema.ts";

export type SchemaNode = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Never printed; a `Secret` once loaded. */
  readonly secret?: boolean;
  /** Unknown keys are problems here and below. */
  readonly security?: boolean;
  /** Milliseconds, or text such as "30s". */
  readonly duration?: boolean;
  /** An object of somebody else: any JSON is taken as it is, and none of it is shown. */
  readonly free?: boolean;
  /** What a pattern means, in words that fit after "it must be". */
  readonly expects?: string;
};

/** TypeBox schemas are JSON Schema; its types say more than this module needs to know. */
export const asSchemaNode = (schema: object): SchemaNode => schema as SchemaNode;

export const rootSchema = (): SchemaNode => asSchemaNode(ConfigSchema);

/** The fixed texts a value may be, or null when it is not that kind of key. */
export function choicesOf(schema: SchemaNode): readonly string[] | null {
  const choices = schema.anyOf?.map((one) => one.const);
  return choices?.every((one) => typeof one === "string") ? choices : null;
}

/** For keys that take values of several kinds, such as a word or a list: the kind that fits what is written, or null. */
export function alternativeFor(schema: SchemaNode, kind: string): SchemaNode | null {
  if (!schema.anyOf || schema.duration || choicesOf(schema)) return null;
  if (kind !== "text") return schema.anyOf.find(({ type }) => type === kind) ?? null;
  const texts = schema.anyOf.filter((one) => typeof one.const === "string");
  return schema.anyOf.find((one) => one.type === "string" && one.const === undefined) ?? { ...schema, anyOf: texts };
}

/** For keys that the file's author names, such as providers: the pattern of the name and what is below it. */
export function recordOf(schema: SchemaNode): { readonly pattern: RegExp; readonly value: SchemaNode } | null {
  const [entry] = Object.entries(schema.patternProperties ?? {});
  return entry ? { pattern: new RegExp(entry[0]), value: entry[1] } : null;
}

export function holdsSecret(schema: SchemaNode): boolean {
  if (schema.secret) return true;
  const below = [...Object.values(schema.properties ?? {}), ...Object.values(schema.patternProperties ?? {})];
  if (schema.items) below.push(schema.items);
  return below.some(holdsSecret);
}

/** Every key with its dotted path; keys named by the author appear as NAME, list entries as []. */
export function allKeys(schema: SchemaNode, path = ""): readonly { readonly path: string; readonly key: string }[] {
  const here = path === "" ? "" : `${path}.`;
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, below]) => [
    { path: `${here}${key}`, key },
    ...allKeys(below, `${here}${key}`),
  ]);
  const record = recordOf(schema);
  const named = record ? allKeys(record.value, `${here}NAME`) : [];
  const listed = schema.items ? allKeys(schema.items, `${path}[]`) : [];
  return [...own, ...named, ...listed];
}
