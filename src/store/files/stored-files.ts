/**
 * Files in the database, in chunks, so that every gateway on it finds them; or in a bucket, with rows that say which chunk is where. A file is
 * what its row says: chunks behind its end and of other generations are left over, and are never read. So a change is there as a whole, from
 * the commit on that changes the row.
 */
import type { FileChange, StoredFile } from "../../contracts/store/session-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Steps } from "../steps.ts";
import type { Bucket } from "./bucket.ts";
import { createFileChanges, type StagedChange } from "./file-changes.ts";
import { createFileContents } from "./file-contents.ts";
import { createFileQueries } from "./file-queries.ts";

/** Of one file. Each turn adds one; a file that has more is stored as a whole again, so that reading it stays quick. */
const MAX_CHUNKS = 128;
/** Longer than anybody needs to store a file. */
const UNFINISHED_KEPT_MS = 24 * 60 * 60_000;
const UNFINISHED_AT_ONCE = 1_000;

export interface StoredFiles {
  find(name: string): Steps<StoredFile | null>;
  /** Before the transaction: stores what is too large for it. Nobody sees it until then. */
  stage(change: FileChange): Promise<StagedChange>;
  /** Inside of somebody's transaction. Stores nothing when the file is not what it grew from: the next change brings all of it. */
  keep(change: StagedChange): Steps<Discarded>;
  /** After the commit. Never rejects: what stays in a bucket is removed with its file. */
  discard(discarded: Discarded): Promise<void>;
  /** From the beginning, piece by piece. Throws `store_corrupt`. */
  read(name: string, file: StoredFile): AsyncIterable<Uint8Array>;
  /** One that is gone already is fine. */
  remove(name: string): Promise<void>;
  /** Removes files whose first chunks were stored by a gateway that died before it was done. */
  removeUnfinished(): Promise<void>;
}

/** Names in the bucket that nothing refers to any more. */
type Discarded = readonly string[];

type FileDeps = Pick<RowDeps, "sql" | "read" | "write" | "clock" | "log" | "ids">;

/** `bucket`: null: contents are in the database. */
export function createStoredFiles(deps: FileDeps, bucket: Bucket | null): StoredFiles {
  const { sql, read, write, clock, log } = deps;
  const queries = createFileQueries(sql);
  const remove = async (name: string): Promise<void> => {
    await write(function* () {
      yield* queries.chunks.drop.run({ file: name });
      yield* queries.drop.run({ name });
    });
    await bucket?.removeAll(`${name}/`);
  };
  return {
    *find(name) {
      const row = yield* queries.file.first({ name });
      if (row === null || row.generation === 0) return null;
      return { bytes: row.bytes, digest: row.digest, canGrow: row.chunks < MAX_CHUNKS };
    },
    ...createFileChanges(deps, queries, bucket),
    read: createFileContents({ read }, queries, bucket),
    async discard(discarded) {
      for (const object of discarded)
        await bucket?.remove(object).catch((error) => log.warn("an old chunk stays in the bucket", { object, error }));
    },
    remove,
    async removeUnfinished() {
      const before = clock.now() - UNFINISHED_KEPT_MS;
      const found = await read(() => queries.unfinished.all({ before, limit: UNFINISHED_AT_ONCE }));
      for (const { name } of found) await remove(name);
    },
  };
}
