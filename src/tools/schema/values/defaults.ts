/**
 * Fills in `default`: a property that a call leaves out gets the value its schema names. Only where there is no choice to make: in named
 * properties, in items of lists and through `allOf` and references, not inside `anyOf`, `oneOf` or conditions.
 */
import type { Inspected } from "../inspect.ts";
import { isObject } from "../../../kit/json.ts";
import type { Schema, SchemaNode } from "../../../kit/schema/keywords.ts";

/** Values and characters that one call may get: a small call must not become a large one. */
const DEFAULTS_LIMITS = { maxValues: 1_000, maxChars: 64 * 1024 } as const;

class TooMany extends Error {}

interface Filling {
  readonly refs: Inspected["refs"];
  values: number;
  chars: number;
}

/** The very same value when nothing is missing, or when filling in would make it too large. */
export function fillDefaults({ root, refs }: Inspected, value: unknown): unknown {
  try {
    return filled({ refs, values: 0, chars: 0 }, root, value);
  } catch (error) {
    if (error instanceof TooMany) return value;
    throw error;
  }
}

function filled(filling: Filling, schema: Schema | undefined, value: unknown): unknown {
  if (!isObject(schema) || typeof value !== "object" || value === null) return value;
  const parts = Array.isArray(schema.allOf) ? (schema.allOf as Schema[]) : [];
  const before = [filling.refs.get(schema), ...parts].reduce<unknown>(
    (held, part) => filled(filling, part, held),
    value,
  );
  return Array.isArray(before) ? filledItems(filling, schema, before) : filledProperties(filling, schema, before);
}

function filledItems(filling: Filling, { items }: SchemaNode, value: readonly unknown[]): readonly unknown[] {
  if (!isObject(items)) return value;
  const made = value.map((item) => filled(filling, items, item));
  return made.every((item, at) => item === value[at]) ? value : made;
}

function filledProperties(filling: Filling, { properties }: SchemaNode, value: unknown): unknown {
  if (!isObject(properties) || !isObject(value)) return value;
  const changes: [string, unknown][] = [];
  for (const [name, schema] of Object.entries(properties) as [string, Schema][]) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) {
      const part = filled(filling, schema, value[name]);
      if (part !== value[name]) changes.push([name, part]);
    } else if (isObject(schema) && Object.hasOwn(schema, "default")) {
      changes.push([name, counted(filling, schema.default)]);
    }
  }
  // not by assignment: a property may be called __proto__
  return changes.length === 0 ? value : Object.fromEntries([...Object.entries(value), ...changes]);
}

/** A copy, because the tool may keep and change it. What is missing inside of it stays so, or a schema that contains itself would never end. */
function counted(filling: Filling, value: unknown): unknown {
  filling.values++;
  filling.chars += JSON.stringify(value)?.length ?? 0;
  if (filling.values > DEFAULTS_LIMITS.maxValues || filling.chars > DEFAULTS_LIMITS.maxChars) throw new TooMany();
  return structuredClone(value);
}
