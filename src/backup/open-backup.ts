/** A backup as the stream of its archive: decrypted when it is encrypted, and unpacked. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { GatewayError } from "../contracts/errors.ts";
import type { Secret } from "../kit/secret.ts";
import { backupDamaged } from "./damaged.ts";
import { HEADER_BYTES, isSealed } from "./seal/header.ts";
import { unsealed } from "./seal/seal.ts";

export async function isEncrypted(file: string): Promise<boolean> {
  return isSealed(await beginningOf(file));
}

export interface ReadOptions {
  /** Not used for a backup that is not encrypted. */
  readonly passphrase: Secret | null;
  progress?(doneBytes: number, allBytes: number): void;
}

export async function* readBackup(
  file: string,
  { passphrase, progress }: ReadOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const encrypted = await isEncrypted(file);
  if (encrypted && passphrase === null)
    throw new GatewayError("passphrase_wrong", "no passphrase was given", {
      say: "This backup is encrypted. Give its passphrase with --passphrase-file, or run the command on a terminal.",
    });
  const counted = countedBytes(file, progress, signal);
  const packed = encrypted && passphrase !== null ? unsealed(counted, passphrase) : counted;
  yield* unpacked(packed);
}

async function* countedBytes(
  file: string,
  progress: ReadOptions["progress"],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const allBytes = Bun.file(file).size;
  let doneBytes = 0;
  for await (const piece of createReadStream(file, { signal, highWaterMark: 256 * 1024 })) {
    doneBytes += piece.length;
    progress?.(doneBytes, allBytes);
    yield piece;
  }
}

/** The errors of whatever stands before it come through as they are; those of the packing mean that the file is damaged. */
async function* unpacked(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const gunzip = createGunzip();
  let fault: unknown = null;
  const feeding = (async () => {
    try {
      for await (const piece of packed)
        if (!gunzip.write(piece)) await new Promise<void>((done) => gunzip.once("drain", done));
      gunzip.end();
    } catch (error) {
      fault = error;
      gunzip.destroy();
    }
  })();
  try {
    for await (const piece of gunzip) yield piece as Uint8Array;
  } catch (error) {
    throw fault ?? backupDamaged(`it cannot be unpacked (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    gunzip.destroy();
  }
  await feeding;
  if (fault !== null) throw fault;
}

async function beginningOf(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file, "r");
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new GatewayError("not_found", "the backup cannot be opened", {
      cause: error,
      say: `The backup ${file} cannot be opened (${error instanceof Error ? error.message : String(error)}).`,
    });
  }
}
