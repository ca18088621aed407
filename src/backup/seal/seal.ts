/** Streams through encryption and back: header, then chunks of equal length, the last one shorter or empty. */
import type { Secret } from "../../kit/secret.ts";
import { CHUNK_BYTES, openChunk, sealChunk, TAG_BYTES } from "./chunks.ts";
import { HEADER_BYTES, newHeader, openHeader } from "./header.ts";

export async function* sealed(
  bytes: AsyncIterable<Uint8Array>,
  { passphrase, salt, cost }: { readonly passphrase: Secret; readonly salt: Uint8Array; readonly cost?: number },
): AsyncGenerator<Uint8Array, void, void> {
  const key = await newHeader(passphrase, salt, cost);
  yield key.header;
  let no = 0;
  for await (const { data, last } of cut(bytes, CHUNK_BYTES)) yield sealChunk(key, no++, last, data);
}

export async function* unsealed(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: Secret,
): AsyncGenerator<Uint8Array, void, void> {
  const pieces = bytes[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (beginning.length < HEADER_BYTES) {
    const next = await pieces.next();
    if (next.done) break;
    beginning = Buffer.concat([beginning, next.value]);
  }
  const key = await openHeader(passphrase, beginning);
  const rest = joined(beginning.subarray(HEADER_BYTES), pieces);
  let no = 0;
  for await (const { data, last } of cut(rest, CHUNK_BYTES + TAG_BYTES)) yield openChunk(key, no++, last, data);
}

async function* joined(first: Uint8Array, pieces: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield first;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
}

/** Pieces of exactly `size` bytes; the last one has the rest, and may be empty. */
async function* cut(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly data: Buffer; readonly last: boolean }, void, void> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    let left = piece;
    while (length + left.length > size) {
      const taken = left.subarray(0, size - length);
      yield { data: Buffer.concat([...held, taken]), last: false };
      left = left.subarray(taken.length);
      held = [];
      length = 0;
    }
    held.push(left);
    length += left.length;
  }
  yield { data: Buffer.concat(held), last: true };
}
