/** Stores what a file has become: small changes in the transaction that makes them true, large ones before it, chunk by chunk. */
import { GatewayError } from "../../contracts/errors.ts";
import type { FileChange } from "../../contracts/store/session-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Steps } from "../steps.ts";
import type { Bucket } from "./bucket.ts";
import type { FileQueries } from "./file-queries.ts";
import type { FileChunkTable, FileTable } from "./file-tables.ts";
import { sha256 } from "./file-contents.ts";

/** Sent in a fraction of a millisecond, and a small part of what one transaction may wait for. */
const CHUNK_BYTES = 256 * 1024;
/** Each is a request of its own. */
const BUCKET_CHUNK_BYTES = 8 * 1024 * 1024;

export interface StagedChange extends FileChange {
  readonly chunks: readonly NewChunk[];
  /** The rows of the chunks are there already. */
  readonly isStaged: boolean;
}

type NewChunk = Omit<FileChunkTable, "file" | "generation">;

type ChangeDeps = Pick<RowDeps, "write" | "clock" | "log" | "ids">;

export function createFileChanges({ write, clock, log, ids }: ChangeDeps, queries: FileQueries, bucket: Bucket | null) {
  /** A gateway that dies from here on leaves a trace of what it stored. */
  const begin = (change: FileChange): Promise<void> =>
    write(function* () {
      const { name, from: end } = change;
      const generation = generationFor(change, yield* queries.file.first({ name }));
      if (generation === null) return;
      yield* queries.begin.run({ name, generation: 0, bytes: 0, digest: "", chunks: 0, staged: true, at: clock.now() });
      yield* queries.chunks.dropBehind.run({ file: name, generation, end });
    });

  /** One transaction for each, so that nobody else's write waits for all of them. */
  const stageRows = async (change: FileChange, chunks: readonly NewChunk[]): Promise<void> => {
    const { name } = change;
    for (const chunk of chunks)
      await write(function* () {
        const generation = generationFor(change, yield* queries.file.first({ name }));
        if (generation !== null) yield* queries.chunks.add.run({ ...chunk, file: name, generation });
      });
  };

  return {
    async stage(change: FileChange): Promise<StagedChange> {
      if (bucket !== null) {
        if (change.grownFrom === null) await begin(change);
        const inBucket = cut(change, BUCKET_CHUNK_BYTES);
        return { ...change, chunks: await uploaded(ids, bucket, change.name, inBucket), isStaged: false };
      }
      const chunks = cut(change, CHUNK_BYTES);
      if (chunks.length <= 1) return { ...change, chunks, isStaged: false };
      await begin(change);
      await stageRows(change, chunks);
      return { ...change, chunks, isStaged: true };
    },
    *keep(change: StagedChange): Steps<readonly string[]> {
      const { name, from, data, digest, chunks, isStaged } = change;
      if (!isStaged && (yield* grow(queries, change, clock.now()))) return [];
      const row = yield* queries.file.first({ name });
      const generation = generationFor(change, row);
      if (generation === null) {
        log.error("a stored file is not what it grew from, and is stored as a whole after the next turn", { name });
        return [];
      }
      if (isStaged) yield* checkStaged(queries, change, generation);
      else {
        yield* queries.chunks.dropBehind.run({ file: name, generation, end: from });
        for (const chunk of chunks) yield* queries.chunks.add.run({ ...chunk, file: name, generation });
      }
      const before = row?.generation === generation ? row.chunks : 0;
      const bytes = from + data.byteLength;
      yield* queries.put.run({
        name,
        generation,
        bytes,
        digest,
        chunks: before + chunks.length,
        staged: false,
        at: clock.now(),
      });
      if (row === null || row.generation === generation) return [];
      const dropped = yield* queries.chunks.dropOthers.all({ file: name, generation });
      return dropped.flatMap(({ object }) => object ?? []);
    },
  };
}

/** What almost every turn does. False: it has to be done step by step. */
function* grow(queries: FileQueries, change: StagedChange, at: number): Steps<boolean> {
  const { name, grownFrom, from, data, digest, chunks } = change;
  const [chunk, ...others] = chunks;
  if (grownFrom === null || !chunk || others.length > 0) return false;
  const { position, data: content, object, bytes: chunkBytes, digest: chunkDigest } = chunk;
  const file = { file: name, grownFrom, bytes: from + data.byteLength, digest, at };
  return (yield* queries.grow.run({ ...file, position, data: content, object, chunkBytes, chunkDigest })) === 1;
}

/** A file that grew keeps its generation; one that is new as a whole gets the next. Null: it is not what it grew from. */
function generationFor({ grownFrom }: FileChange, row: FileTable | null): number | null {
  if (grownFrom === null) return (row?.generation ?? 0) + 1;
  return row?.digest === grownFrom ? row.generation : null;
}

function cut({ from, data }: FileChange, chunkBytes: number): readonly NewChunk[] {
  const count = Math.ceil(data.byteLength / chunkBytes);
  return Array.from({ length: count }, (_, index) => {
    const start = index * chunkBytes;
    const part = data.subarray(start, start + chunkBytes);
    return { position: from + start, bytes: part.byteLength, digest: sha256(part), data: part, object: null };
  });
}

/** Each under a name that no other change has, so that a gateway which was taken over from cannot change what another one stored. */
async function uploaded(
  ids: RowDeps["ids"],
  bucket: Bucket,
  name: string,
  chunks: readonly NewChunk[],
): Promise<readonly NewChunk[]> {
  const inBucket: NewChunk[] = [];
  for (const chunk of chunks) {
    const object = `${name}/${ids.next("chunk")}`;
    await bucket.put(object, chunk.data ?? new Uint8Array());
    inBucket.push({ ...chunk, data: null, object });
  }
  return inBucket;
}

/** What was stored before this transaction has to be all there. */
function* checkStaged(queries: FileQueries, change: StagedChange, generation: number): Steps<void> {
  const found = yield* queries.chunks.staged.first({ file: change.name, generation, from: change.from });
  if (found?.bytes === change.data.byteLength && found.chunks === change.chunks.length) return;
  throw new GatewayError("store_failed", "chunks of a file are missing", { fields: { name: change.name } });
}
