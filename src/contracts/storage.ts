/** How much a gateway has stored, as its operator sees it. */
import type { FolderSize } from "./store/retention.ts";

export interface StorageReport {
  /** Of the database file, or of the Postgres database. */
  readonly databaseBytes: number;
  readonly kinds: readonly StoredKind[];
  /** Folders of the state directory. */
  readonly folders: readonly FolderSize[];
}

export interface StoredKind {
  readonly kind: string;
  readonly rows: number;
  readonly bytes: number;
  readonly oldestAt: number | null;
  /** 0: for ever; null: no setting says so. */
  readonly keepDays: number | null;
  /** Which setting that is. */
  readonly setting: string | null;
}
