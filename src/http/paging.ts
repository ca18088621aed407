/** Lists in pages: the fields that every list takes, and how to read them. */
import { Type } from "typebox";
import type { Page } from "../contracts/paging.ts";

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;

export const PAGE_FIELDS = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
  cursor: Type.Optional(Type.String({ maxLength: 512 })),
};

export function pageOf({ limit = DEFAULT_PAGE, cursor }: { readonly limit?: number; readonly cursor?: string }): Page {
  return cursor === undefined ? { limit } : { limit, cursor };
}

/** The query as schemas read it: `limit`, or what else is named, is a number there, and text in an address. */
export function queryValues(
  query: URLSearchParams,
  numbers: readonly string[] = ["limit"],
): Record<string, string | number> {
  const values: Record<string, string | number> = Object.fromEntries(query);
  for (const name of numbers) {
    const text = query.get(name) ?? "";
    if (/^\d{1,6}$/.test(text)) values[name] = Number(text);
  }
  return values;
}
