/**
 * The beginning of an encrypted backup: how the key is made of the passphrase, and a mark by which a wrong passphrase is known from a damaged
 * file. Scrypt makes guessing expensive; its cost is part of the file, within limits, so that a forged file cannot take all memory.
 */
import { createHmac, scrypt, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../../contracts/errors.ts";
import type { Secret } from "../../kit/secret.ts";
import { backupDamaged } from "../damaged.ts";

const MAGIC = "PGWBAK1\n";
export const SALT_BYTES = 16;
const MAC_BYTES = 32;
/** 2^17 · 8 · 128 bytes = 128 MiB of memory, and about half a second. */
const COST = 17;
const MIN_COST = 14;
const MAX_COST = 20;
const BLOCK = 8;
const KEY_BYTES = 32;
const FIXED_BYTES = MAGIC.length + 1 + SALT_BYTES;
export const HEADER_BYTES = FIXED_BYTES + MAC_BYTES;

interface SealKey {
  readonly header: Buffer;
  readonly key: Buffer;
}

export function isSealed(beginning: Uint8Array): boolean {
  return Buffer.from(beginning).toString("latin1", 0, MAGIC.length) === MAGIC;
}

export async function newHeader(passphrase: Secret, salt: Uint8Array, cost = COST): Promise<SealKey> {
  const fixed = Buffer.concat([Buffer.from(MAGIC), Buffer.from([cost]), salt]);
  const { key, markKey } = await derive(passphrase, salt, cost);
  return { header: Buffer.concat([fixed, macOf(markKey, fixed)]), key };
}

/** Throws `passphrase_wrong`, or `backup_damaged` when it is no encrypted backup. */
export async function openHeader(passphrase: Secret, header: Buffer): Promise<SealKey> {
  if (header.length < HEADER_BYTES || !isSealed(header)) throw backupDamaged("it is not an encrypted backup");
  const fixed = header.subarray(0, FIXED_BYTES);
  const cost = header[MAGIC.length] ?? 0;
  if (cost < MIN_COST || cost > MAX_COST) throw backupDamaged("its beginning is damaged");
  const { key, markKey } = await derive(passphrase, fixed.subarray(MAGIC.length + 1), cost);
  if (!timingSafeEqual(macOf(markKey, fixed), header.subarray(FIXED_BYTES, HEADER_BYTES)))
    throw new GatewayError("passphrase_wrong", "the mark of the key does not match");
  return { header: header.subarray(0, HEADER_BYTES), key };
}

function macOf(markKey: Buffer, fixed: Buffer): Buffer {
  return createHmac("sha256", markKey).update(fixed).digest();
}

async function derive(
  passphrase: Secret,
  salt: Uint8Array,
  cost: number,
): Promise<{ readonly key: Buffer; readonly markKey: Buffer }> {
  const options = { N: 2 ** cost, r: BLOCK, p: 1, maxmem: 2 ** cost * BLOCK * 128 + 64 * 1024 * 1024 };
  const made = await new Promise<Buffer>((resolve, reject) => {
    scrypt(passphrase.reveal().normalize("NFC"), salt, 2 * KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
  return { key: made.subarray(0, KEY_BYTES), markKey: made.subarray(KEY_BYTES) };
}
