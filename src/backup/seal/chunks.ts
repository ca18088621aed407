/**
 * Encrypts a stream in chunks (AES-256-GCM), so that it can be read while it arrives and nothing is handed on before it was authenticated. The
 * nonce of a chunk is its number and whether it is the last: chunks cannot be reordered, left out, repeated or cut off. Each file has a key of its own.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { backupDamaged } from "../damaged.ts";

export const CHUNK_BYTES = 64 * 1024;
export const TAG_BYTES = 16;
const NONCE_BYTES = 12;

interface ChunkKey {
  readonly key: Buffer;
  /** Bound to every chunk. */
  readonly header: Buffer;
}

export function sealChunk({ key, header }: ChunkKey, no: number, last: boolean, data: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(no, last));
  cipher.setAAD(header);
  const body = cipher.update(data);
  return Buffer.concat([body, cipher.final(), cipher.getAuthTag()]);
}

export function openChunk({ key, header }: ChunkKey, no: number, last: boolean, sealed: Buffer): Buffer {
  if (sealed.length < TAG_BYTES) throw damagedChunk(no);
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(no, last));
  decipher.setAAD(header);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const body = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([body, decipher.final()]);
  } catch {
    throw damagedChunk(no); // the tag does not match, which is all there is to know
  }
}

function damagedChunk(no: number): Error {
  return backupDamaged(`it was changed or cut off near byte ${no * (CHUNK_BYTES + TAG_BYTES)}`);
}

function nonceOf(no: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(no), NONCE_BYTES - 9);
  nonce[NONCE_BYTES - 1] = last ? 1 : 0;
  return nonce;
}
