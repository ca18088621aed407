/** Reads stored files chunk by chunk, and believes a chunk only by its digest. */
import { GatewayError } from "../../contracts/errors.ts";
import type { StoredFile } from "../../contracts/store/session-files.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Bucket } from "./bucket.ts";
import type { FileQueries } from "./file-queries.ts";
import type { FileChunkTable } from "./file-tables.ts";

/** Read with one query. */
const CHUNKS_AT_ONCE = 8;
/** A bucket that sends half of a chunk is asked again. */
const MAX_READS = 3;

export function createFileContents({ read }: Pick<RowDeps, "read">, queries: FileQueries, bucket: Bucket | null) {
  return async function* (name: string, { digest }: StoredFile): AsyncGenerator<Uint8Array, void> {
    const row = await read(() => queries.file.first({ name }));
    if (row?.digest !== digest) throw changed(name);
    for (let position = 0; position < row.bytes;) {
      const { generation, bytes: end } = row;
      const next = { file: name, generation, from: position, end, limit: CHUNKS_AT_ONCE };
      const chunks = await read(() => queries.chunks.next.all(next));
      if (chunks.length === 0) throw damaged(name, `nothing is stored from byte ${position} on`);
      for (const chunk of chunks) {
        if (chunk.position !== position) throw damaged(name, `nothing is stored from byte ${position} on`);
        yield await contentOf(name, chunk, bucket);
        position += chunk.bytes;
      }
    }
  };
}

async function contentOf(name: string, chunk: FileChunkTable, bucket: Bucket | null): Promise<Uint8Array> {
  for (let reads = 1; ; reads++) {
    const data = chunk.object === null ? chunk.data : await fromBucket(name, chunk.object, bucket);
    if (data?.byteLength === chunk.bytes && sha256(data) === chunk.digest) return data;
    if (chunk.object === null || reads === MAX_READS) throw damaged(name, "a chunk of it is missing or changed");
  }
}

function fromBucket(name: string, object: string, bucket: Bucket | null): Promise<Uint8Array | null> {
  if (bucket !== null) return bucket.get(object);
  throw new GatewayError("store_failed", "a file is in a bucket, and none is set", {
    fields: { name },
    say: "A file is in the bucket of store.files, which is not set any more. Set it again.",
  });
}

/** Only the home of a session changes its file: whoever finds this has been taken over from, and does not go on. */
function changed(name: string): GatewayError {
  return new GatewayError("store_failed", "a stored file was changed while it was read", { fields: { name } });
}

function damaged(name: string, because: string): GatewayError {
  return new GatewayError("store_corrupt", `a stored file is damaged: ${because}`, {
    fields: { name },
    say: `The stored file ${name} is damaged: ${because}.`,
  });
}

export function sha256(data: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}
