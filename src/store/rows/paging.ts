/** Pages of lists: how many rows, from where on, and whether there are more. A cursor from a client is untrusted until it has passed here. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Listed, Page } from "../../contracts/paging.ts";
import { parseJson } from "../../kit/json.ts";

const CURSOR_LIMITS = { maxChars: 4_096, maxDepth: 2 };
const MAX_PAGE = 500;
/** Above every number that a row will have: where a list begins that shows the newest first. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

type Cursor = readonly (string | number)[];

export function pageSize(page: Page): number {
  return Math.min(MAX_PAGE, Math.max(1, Math.trunc(page.limit) || 1));
}

/** For rows that were read with one more than `limit`: that one only says that there is another page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorOf: (last: Row) => Cursor,
): Listed<Item> {
  const shown = rows.slice(0, limit);
  const items = shown.map(toItem);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return last === undefined ? { items } : { items, next: encodeCursor(cursorOf(last)) };
}

/** For lists of the newest first whose cursor is one number: only rows below it are shown. */
export function numberBefore(page: Page): number {
  return page.cursor === undefined ? NEWEST : Number(decodeCursor(page.cursor, ["number"])[0]);
}

export function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/** `shape` tells what each value is. Throws `bad_request` for anything we did not make ourselves. */
export function decodeCursor(cursor: string, shape: readonly ("string" | "number")[]): readonly unknown[] {
  const text = cursor.length > CURSOR_LIMITS.maxChars ? "" : Buffer.from(cursor, "base64url").toString("utf8");
  const parsed = parseJson(text, CURSOR_LIMITS);
  const values = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  if (values.length !== shape.length || !values.every((value, index) => typeof value === shape[index]))
    throw new GatewayError("bad_request", "the cursor is not one of ours", {
      say: "This cursor is not valid. Use the `next` value of the page before, or leave it out to start at the beginning.",
    });
  return values;
}
