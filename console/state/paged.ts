/** A list that is read in pages: what has been read of it so far, and where it goes on. Pure. */
import type { Listed } from "../../src/contracts/paging.ts";

export interface Paged<T> {
  readonly phase: "loading" | "ready" | "failed";
  readonly items: readonly T[];
  /** Null: there is no more. */
  readonly next: string | null;
}

export const LOADING = { phase: "loading", items: [], next: null } as const;
export const FAILED = { phase: "failed", items: [], next: null } as const;

export function firstPage<T>({ items, next }: Listed<T>): Paged<T> {
  return { phase: "ready", items, next: next ?? null };
}

export function nextPage<T>(before: Paged<T>, { items, next }: Listed<T>): Paged<T> {
  return { phase: "ready", items: [...before.items, ...items], next: next ?? null };
}

/** The list with its newest page read again: what is new is on top, what was read before and is older stays. */
export function withNewest<T>(before: Paged<T>, { items, next }: Listed<T>, keyOf: (item: T) => string): Paged<T> {
  const fresh = new Set(items.map(keyOf));
  const last = items.at(-1);
  const meets = last === undefined ? -1 : before.items.findIndex((item) => keyOf(item) === keyOf(last));
  if (meets < 0) return firstPage(next === undefined ? { items } : { items, next });
  const older = before.items.slice(meets + 1).filter((item) => !fresh.has(keyOf(item)));
  return { phase: "ready", items: [...items, ...older], next: older.length > 0 ? before.next : (next ?? null) };
}
