/** Session files beside the rows that speak of them: on Postgres every gateway that takes a session finds its file there. */

/** A file as the last finished turn left it. */
export interface StoredFile {
  readonly bytes: number;
  /** SHA-256 of all its bytes, in hexadecimal digits. */
  readonly digest: string;
  /** False: it has grown in so many steps that it should be stored as a whole again. */
  readonly canGrow: boolean;
}

/** What a turn made of a file: it has grown, or all of it is new. */
export interface FileChange {
  readonly name: string;
  /** The digest of what it grew from; null: all of it is in `data`. */
  readonly grownFrom: string | null;
  /** Where `data` begins. */
  readonly from: number;
  readonly data: Uint8Array;
  /** Of the whole file, after the change. */
  readonly digest: string;
}

export interface SessionFileStore {
  /** Session files are on the disk of this machine alone: none is ever found here, and changes are not stored. */
  readonly isLocal: boolean;
  find(name: string): Promise<StoredFile | null>;
  /** From its beginning, piece by piece. Throws `store_corrupt` when it is not what was stored, and `store_failed` when it was changed meanwhile. */
  read(name: string, file: StoredFile): AsyncIterable<Uint8Array>;
  /** One that is gone already is fine. */
  remove(name: string): Promise<void>;
  /** Those that no session, conversation or running turn has: another gateway has deleted them. None where files are on this machine alone. */
  unknownOf(names: readonly string[]): Promise<readonly string[]>;
}
