/** What the rewriting of a schema for one family of providers has in common: what was left out is said in the description instead. */
import { isObject } from "../../../kit/json.ts";
import type { SchemaNode } from "../../../kit/schema/keywords.ts";

export type ProviderSchema =
  /** `because`: what is less exact in it than in the schema, and why; absent: nothing. */
  | { readonly kind: "ok"; readonly schema: SchemaNode; readonly because?: string }
  /** It cannot be said to this provider without changing what it means. */
  | { readonly kind: "unsupported"; readonly because: string };

export type Draft = Record<string, unknown>;

/** Keywords that only describe the schema itself; nobody misses them. */
const ABOUT_THE_SCHEMA = [
  "$schema",
  "$id",
  "$anchor",
  "$comment",
  "$vocabulary",
  "$dynamicAnchor",
  "examples",
  "deprecated",
];

/** The kept keywords of a node, and the others as words at the end of its description. */
export function keepOnly(node: SchemaNode, kept: readonly string[], handled: readonly string[]): Draft {
  const draft: Draft = {};
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (kept.includes(keyword)) draft[keyword] = value;
    else if (!handled.includes(keyword) && !ABOUT_THE_SCHEMA.includes(keyword))
      notes.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  return withNotes(draft, notes);
}

const MAX_NOTE_CHARS = 300;

export function withNotes(draft: Draft, notes: readonly string[]): Draft {
  if (notes.length === 0) return draft;
  const said = typeof draft.description === "string" ? `${draft.description} ` : "";
  return { ...draft, description: `${said}(${notes.join("; ").slice(0, MAX_NOTE_CHARS)})` };
}

export const typesOf = (node: SchemaNode): string[] =>
  [node.type ?? []].flat().filter((type) => typeof type === "string");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const nodesOf = (value: unknown): readonly SchemaNode[] => listOf(value).filter(isObject);

/** The parts of an `allOf` as one node: names and requirements add up, of anything else the first word counts. */
export function merged(node: SchemaNode): SchemaNode {
  const parts = nodesOf(node.allOf).map(merged);
  if (parts.length === 0) return node;
  const { allOf: _, ...own } = node;
  return parts.reduce<SchemaNode>((all, part) => {
    const properties = {
      ...(isObject(part.properties) ? part.properties : {}),
      ...(isObject(all.properties) ? all.properties : {}),
    };
    const required = [...new Set([...listOf(all.required), ...listOf(part.required)])];
    const more = Object.keys(properties).length > 0 ? { properties, required } : {};
    return { ...part, ...all, ...more };
  }, own);
}
