/** Reads a table by its primary key, a bounded piece at a time: neither the whole table nor a second long statement is ever needed. */
import { type AskRows, placeholders } from "../ask-rows.ts";
import type { Row } from "./digest.ts";
import type { MovedTable } from "./tables.ts";

/** The values of the primary key of a row. */
export type KeyValues = readonly unknown[];

interface Piece {
  readonly rows: readonly Row[];
  /** Of the last row. */
  readonly last: KeyValues;
}

interface PieceOptions {
  readonly columns: readonly string[];
  /** Begins behind this row; null: at the beginning. */
  readonly after: KeyValues | null;
  /** Fewer where rows are large. */
  readonly maxRows?: number | undefined;
}

const MAX_PIECE_ROWS = 500;
/** About so much text is read, sent and written at once. */
const PIECE_CHARS = 4 * 1024 * 1024;

export async function* readPieces(
  ask: AskRows,
  table: MovedTable,
  { columns, after, maxRows = MAX_PIECE_ROWS }: PieceOptions,
): AsyncGenerator<Piece> {
  let last = after;
  let limit = firstPieceRows(maxRows);
  for (;;) {
    const { text, values } = pieceQuery(table, columns, { after: last, limit });
    const rows = await ask<Row>(text, values);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = table.key.map((column) => end[column]);
    yield { rows, last };
    limit = nextPieceRows(rows, maxRows);
  }
}

export function pieceQuery(
  { name, key }: MovedTable,
  columns: readonly string[],
  { after, limit }: { readonly after: KeyValues | null; readonly limit: number },
): { readonly text: string; readonly values: readonly unknown[] } {
  const by = quoted(key);
  const behind = after === null ? "" : ` where (${by}) > (${placeholders(key.length)})`;
  const values = [...(after ?? []), limit];
  return { text: `select ${quoted(columns)} from ${name}${behind} order by ${by} limit $${values.length}`, values };
}

/** Names of columns: some of them are words of SQL. */
export function quoted(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}

/** Nothing is known about the size of rows yet. */
function firstPieceRows(maxRows: number): number {
  return Math.max(1, Math.floor(maxRows / 10));
}

/** As many rows as the last ones let expect in one piece. */
export function nextPieceRows(rows: readonly Row[], maxRows: number): number {
  let chars = 1;
  for (const row of rows) for (const value of Object.values(row)) chars += typeof value === "string" ? value.length : 8;
  return Math.max(1, Math.min(maxRows, Math.floor((PIECE_CHARS * rows.length) / chars)));
}
