/** Lists of MCP in pages. A cursor is the number of what was shown before it; one that is none is refused. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

const PAGE = 200;

interface PageOf<T> {
  readonly items: readonly T[];
  /** Absent: that was all. */
  readonly next?: string;
}

export function pageOf<T>(all: readonly T[], cursor: string | undefined): PageOf<T> {
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such cursor.");
  const from = Number(cursor ?? 0);
  const items = all.slice(from, from + PAGE);
  return from + PAGE < all.length ? { items, next: String(from + PAGE) } : { items };
}
