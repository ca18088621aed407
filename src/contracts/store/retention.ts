/** What grows with time and may be deleted when it is old: a bounded number of rows in each step, so that nobody waits long for the database. */
import type { SessionKey } from "../ids.ts";

/** Nothing that is still needed is ever deleted: what a running turn, a waiting message, an undelivered reply or an open approval refers to, and pinned sessions. */
export interface RetentionStore {
  /** Turns that ended before, with their messages and replies. Tool calls and usage records stay: they have times of their own. */
  dropTurns(rule: OldRows): Promise<DroppedRows>;
  /**
   * Sessions without activity since, with all that was said in them. One with many turns takes several steps. Their files are listed as
   * dead.
   */
  dropSessions(rule: OldRows): Promise<DroppedRows & { readonly sessions: readonly SessionKey[] }>;
  /** Conversations that `/new` put aside before, with their session files. */
  dropConversations(rule: OldRows): Promise<DroppedRows>;
  /** Media that came before. Messages that they were attached to stay. */
  dropMedia(rule: OldRows): Promise<DroppedRows>;
  /** How much there is of everything. Reads the whole database; an SQLite file is read beside the gateway's own work. */
  sizes(signal: AbortSignal): Promise<DatabaseSizes & { readonly folders: readonly FolderSize[] }>;
}

export interface OldRows {
  readonly before: number;
  /** Where the last step ended; null: at the beginning. */
  readonly from: RowPlace | null;
  /** How many are looked at. */
  readonly limit: number;
}

export interface RowPlace {
  readonly at: number;
  readonly id: string;
}

export interface DroppedRows {
  readonly dropped: number;
  /** Null: there are no more. */
  readonly next: RowPlace | null;
}

export interface DatabaseSizes {
  /** Of the whole database, with its indexes and with room that is free for new rows. */
  readonly bytes: number;
  readonly tables: readonly TableSize[];
}

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** With its indexes. */
  readonly bytes: number;
  /** When its oldest row was written; null: nothing is in it, or it has no times. */
  readonly oldestAt: number | null;
}

/** Of the state directory. */
export interface FolderSize {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}
