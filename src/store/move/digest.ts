/** Equal rows have equal digests, on both engines and in any order. */
import type { AskRows } from "../ask-rows.ts";
import { storableText } from "../storable-text.ts";
import { readPieces } from "./pieces.ts";
import type { MovedTable } from "./tables.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface TableDigest {
  readonly rows: number;
  /** 64 hexadecimal digits. */
  readonly digest: string;
}

const DIGEST_BITS = 256;
const HEX_DIGITS = 64;

/** A row as text: its values in the order of the columns, as both engines can hold them. */
export function canonicalRow(row: Row, columns: readonly string[]): string {
  const values = columns.map((column) => row[column] ?? null);
  return JSON.stringify(values.map((value) => (typeof value === "string" ? storableText(value) : value)));
}

/** The sum of the digests of all rows: it does not depend on the order in which an engine returns them. */
export function createDigest(columns: readonly string[]) {
  let sum = 0n;
  let rows = 0;
  return {
    add(row: Row): void {
      const digest = new Bun.CryptoHasher("sha256").update(canonicalRow(row, columns)).digest("hex");
      sum = BigInt.asUintN(DIGEST_BITS, sum + BigInt(`0x${digest}`));
      rows++;
    },
    result: (): TableDigest => ({ rows, digest: sum.toString(16).padStart(HEX_DIGITS, "0") }),
  };
}

/** Reads a whole table, piece by piece. */
export async function digestTable(
  ask: AskRows,
  table: MovedTable,
  { columns, signal }: { readonly columns: readonly string[]; readonly signal: AbortSignal },
): Promise<TableDigest> {
  const digest = createDigest(columns);
  for await (const { rows } of readPieces(ask, table, { columns, after: null })) {
    signal.throwIfAborted();
    for (const row of rows) digest.add(row);
  }
  return digest.result();
}
