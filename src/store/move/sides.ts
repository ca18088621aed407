/** The two ends of a move, whichever engine they are. */
import type { AskRows } from "../ask-rows.ts";
import type { Row } from "./digest.ts";
import type { FilePlace } from "./file-places.ts";
import type { MovedTable } from "./tables.ts";

/** Seen as it is at one moment. Nothing is written to it. */
export interface MoveSource extends AsyncDisposable {
  readonly ask: AskRows;
  readonly files: FilePlace;
  /** Throws `store_taken` when a gateway has begun to use it meanwhile. */
  checkUnused(): Promise<void>;
}

/** Tables of this version, filled by a move alone. */
export interface MoveTarget extends AsyncDisposable {
  readonly ask: AskRows;
  readonly files: FilePlace;
  /** Whether a move has begun here before. */
  readonly hasMark: boolean;
  /** All of it is committed, or nothing. */
  inTransaction(run: () => Promise<void>): Promise<void>;
  /** With the numbers that the rows have. Notes come into the full-text index with them. Runs inside a transaction. */
  insert(table: MovedTable, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  /** From here on it is a database like any other: numbers go on behind the highest, and the mark is gone. */
  complete(epoch: number): Promise<void>;
}

/** Of rows in a text of SQL; what both engines say in the same way. */
export const EPOCH = "select value from meta where key = 'epoch'";
export const SET_EPOCH = "update meta set value = $1 where key = 'epoch'";
