/** The schema of a plugin's settings: a misspelt keyword, above all `secret`, would be ignored, so every keyword must be one there is. Pure. */
import { isObject } from "../../kit/json.ts";
import { nearest } from "../../kit/nearest.ts";
import { KEYWORDS, subschemasOf } from "../../kit/schema/keywords.ts";

/** Keywords that describe and check nothing; `secret` is the gateway's own. */
const DESCRIBING = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];
const KNOWN: readonly string[] = [...KEYWORDS, ...DESCRIBING, "secret"];
const MAX_SHOWN_CHARS = 64;

/** A sentence about the first mistake; null: there is none. Keywords that begin with `x-` are the plugin's own. */
export function wrongKeyword(schema: unknown, path = "config"): string | null {
  if (!isObject(schema)) return null;
  const unknown = Object.keys(schema).find((key) => !KNOWN.includes(key) && !key.startsWith("x-"));
  if (unknown !== undefined) {
    const close = nearest(unknown, KNOWN);
    const hint = close === null ? "Begin a keyword of your own with x-." : `Did you mean ${close}?`;
    return `${path} has "${unknown.slice(0, MAX_SHOWN_CHARS)}", which is not a keyword of JSON Schema. ${hint}`;
  }
  if ("secret" in schema && typeof schema.secret !== "boolean") return `${path}.secret must be true or false.`;
  for (const { keyword, at, schema: below } of subschemasOf(schema)) {
    const wrong = wrongKeyword(below, `${path}.${keyword}${at === null ? "" : `.${at}`}`);
    if (wrong !== null) return wrong;
  }
  return null;
}
