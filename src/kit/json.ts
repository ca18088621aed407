/** JSON from outside: size and depth are checked before anything is parsed, because JSON.parse has no limits of its own. */
interface JsonLimits {
  readonly maxChars: number;
  readonly maxDepth: number;
}

type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly because: "too_large" | "too_deep" | "not_json" };

/** A reviver makes parsing several times slower, so it runs only when such a key may be there. */
const PROTOTYPE_KEY = /__proto__|constructor|prototype|\\u/;
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

export function parseJson(text: string, limits: JsonLimits): ParsedJson {
  if (text.length > limits.maxChars) return { ok: false, because: "too_large" };
  if (depthOf(text, limits.maxDepth) > limits.maxDepth) return { ok: false, because: "too_deep" };
  try {
    return { ok: true, value: PROTOTYPE_KEY.test(text) ? JSON.parse(text, dropPrototypeKeys) : JSON.parse(text) };
  } catch {
    return { ok: false, because: "not_json" }; // the reason is for the caller to phrase; engine texts differ
  }
}

/** The nesting of brackets outside strings; stops counting just past `enough`. */
export function depthOf(text: string, enough: number): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
    if (deepest > enough) return deepest;
  }
  return deepest;
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

function dropPrototypeKeys(key: string, value: unknown): unknown {
  return key === "__proto__" || key === "constructor" || key === "prototype" ? undefined : value;
}

/** An object in the sense of JSON: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
