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
