/** The tables of stored files as types; part of schema.ts, which names them. Only Postgres has them. */
export interface FileTable {
  /** Of a session file, or `media/` and the id of media. */
  name: string;
  /** Grows when a file is stored as a whole again. Chunks of other generations are no part of it. 0: its first chunks are being stored. */
  generation: number;
  bytes: number;
  digest: string;
  chunks: number;
  /** Chunks of a change that is not complete may stand behind its end. */
  staged: boolean;
  at: number;
}

export interface FileChunkTable {
  file: string;
  generation: number;
  /** Of its first byte in the file. */
  position: number;
  bytes: number;
  digest: string;
  /** Null: it is in the bucket. */
  data: Uint8Array | null;
  /** Its name in the bucket; null: it is in `data`. */
  object: string | null;
}
