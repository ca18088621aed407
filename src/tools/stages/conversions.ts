/**
 * pi converts the parameters of pi tools before it asks: null becomes "" and true becomes 1. Here the rule of schema/values/coerce.ts holds all
 * the same: finds a place where the agent made a value of something that is none. Pure.
 */
import { expectation } from "../../kit/schema/expectation.ts";
import { joinPath, wrongValue } from "../../kit/schema/problem.ts";

const MAX_DEPTH = 32;

/** The place and what stood there, as a sentence; null: every conversion is a harmless one. */
export function harmfulConversion(asked: unknown, used: unknown, path = "", depth = MAX_DEPTH): string | null {
  if (used === undefined || depth === 0) return null;
  if (asked === null && used !== null)
    return `${path || "parameters"}: must not be null. Leave it out or give its value.`;
  if (typeof asked === "boolean" && typeof used !== "boolean")
    return `${path || "parameters"}: ${wrongValue(String(asked), expectation({ type: typeof used }))}`;
  if (typeof asked !== "object" || asked === null || typeof used !== "object" || used === null) return null;
  for (const [name, part] of Object.entries(asked)) {
    const below = Array.isArray(asked) ? `${path}[${name}]` : joinPath(path, name);
    const made = Object.hasOwn(used, name) ? (used as Record<string, unknown>)[name] : undefined;
    const found = harmfulConversion(part, made, below, depth - 1);
    if (found !== null) return found;
  }
  return null;
}
