/**
 * pi copies a whole conversation for each request to the model, in a way that is made for every kind of value. Lists of plain data are copied
 * here by a walk over them, several times as fast; anything else goes the usual way. Schemas of tools that cannot change are most of a short
 * conversation, and are not copied.
 */
type Clone = typeof structuredClone;

/** Deeper data, and data that refers to itself, goes the usual way. */
const MAX_DEPTH = 100;

type IsShared = (value: object) => boolean;

export function copyMessagesByHand(isShared: IsShared): void {
  globalThis.structuredClone = createClone(globalThis.structuredClone, isShared);
}

export function createClone(native: Clone, isShared: IsShared): Clone {
  const copy = copier(isShared);
  const clone = (value: unknown, ...more: readonly []): unknown => {
    if (more.length > 0 || !Array.isArray(value)) return native(value, ...more);
    const copied = copy(value, MAX_DEPTH);
    return copied === UNUSUAL ? native(value) : copied;
  };
  return clone as Clone;
}

const UNUSUAL = Symbol("not plain data");

type Copy = (value: unknown, depth: number) => unknown;

function copier(isShared: IsShared): Copy {
  const copy: Copy = (value, depth) => {
    if (typeof value !== "object" || value === null)
      return typeof value === "function" || typeof value === "symbol" ? UNUSUAL : value;
    if (depth === 0) return UNUSUAL;
    if (Array.isArray(value)) return copyList(value, depth);
    return isShared(value) ? value : copyFields(value, depth);
  };

  const copyList = (list: readonly unknown[], depth: number): unknown => {
    const copied: unknown[] = [];
    for (const one of list) {
      const next = copy(one, depth - 1);
      if (next === UNUSUAL) return UNUSUAL;
      copied.push(next);
    }
    return Object.keys(list).length === list.length ? copied : UNUSUAL; // gaps, or names beside the numbers
  };

  const copyFields = (fields: object, depth: number): unknown => {
    if (Object.getPrototypeOf(fields) !== Object.prototype) return UNUSUAL;
    const copied: Record<string, unknown> = {};
    for (const key of Object.keys(fields)) {
      const next = key === "__proto__" ? UNUSUAL : copy((fields as Record<string, unknown>)[key], depth - 1);
      if (next === UNUSUAL) return UNUSUAL;
      copied[key] = next;
    }
    return copied;
  };

  return copy;
}
