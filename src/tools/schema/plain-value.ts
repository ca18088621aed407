/**
 * A copy of a value in which every property is its own: no object has a prototype, so `toString` or `__proto__` is there only if the caller
 * sent it. What JSON has no word for (undefined, functions) is left out, as JSON would.
 */
export const MAX_VALUE_DEPTH = 64;

type PlainCopy = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

export function plainCopy(value: unknown): PlainCopy {
  const copy = copyOf(value, MAX_VALUE_DEPTH);
  return copy === TOO_DEEP ? { ok: false } : { ok: true, value: copy };
}

const TOO_DEEP = Symbol("too deep");

function copyOf(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) {
    const items = value.map((item) => copyOf(item, levels - 1));
    return items.includes(TOO_DEEP) ? TOO_DEEP : items;
  }
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined || typeof part === "function") continue;
    const made = copyOf(part, levels - 1);
    if (made === TOO_DEEP) return TOO_DEEP;
    copy[name] = made;
  }
  return copy;
}
