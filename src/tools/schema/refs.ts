/** Where a `$ref` leads inside its own schema. Nothing is ever fetched, and nothing may go round without coming nearer to an end. */
import { isObject } from "../../kit/json.ts";
import { isSchema, type Schema, type SchemaNode, subschemasOf } from "../../kit/schema/keywords.ts";

type Resolved =
  { readonly kind: "ok"; readonly target: Schema } | { readonly kind: "refused"; readonly because: string };

/** `#` is the whole schema, `#/…` a path in it, `#name` the place that calls itself so. */
export function resolveRef(root: SchemaNode, ref: string, anchors: ReadonlyMap<string, SchemaNode>): Resolved {
  if (ref === "#") return { kind: "ok", target: root };
  if (!ref.startsWith("#"))
    return { kind: "refused", because: "leads out of the schema; only # references are followed" };
  const found = ref.startsWith("#/") ? follow(root, ref.slice(2)) : anchors.get(ref.slice(1));
  if (!isSchema(found)) return { kind: "refused", because: "leads to nothing" };
  return { kind: "ok", target: found };
}

function follow(root: SchemaNode, pointer: string): unknown {
  let at: unknown = root;
  for (const part of pointer.split("/")) {
    const name = decoded(part)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === undefined || typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // a broken percent sign names nothing
  }
}

/** A node whose check would lead back to itself with the same value, or null. Going down into a part of the value is progress. */
export function circleIn(nodes: Iterable<SchemaNode>, refs: ReadonlyMap<SchemaNode, Schema>): SchemaNode | null {
  const state = new Map<SchemaNode, "open" | "done">();
  const circleFrom = (node: SchemaNode): SchemaNode | null => {
    const seen = state.get(node);
    if (seen) return seen === "open" ? node : null;
    state.set(node, "open");
    for (const next of sameValue(node, refs)) {
      const circle = circleFrom(next);
      if (circle) return circle;
    }
    state.set(node, "done");
    return null;
  };
  for (const node of nodes) {
    const circle = circleFrom(node);
    if (circle) return circle;
  }
  return null;
}

function sameValue(node: SchemaNode, refs: ReadonlyMap<SchemaNode, Schema>): SchemaNode[] {
  const inPlace = subschemasOf(node).flatMap(({ schema, to }) => (to === "value" ? [schema] : []));
  return [...inPlace, refs.get(node)].filter(isObject);
}
