/** Pairing codes: eight characters that cannot be mistaken for each other, and what is kept of them. */
import type { Ids } from "../../kit/ids.ts";

const CODE_CHARS = 8;
/** No I, O, 0 or 1. 32 of them, so that five bits choose one without favouring any. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CHOOSE = ALPHABET.length - 1;

export function newCode(ids: Ids): string {
  const bytes = Buffer.from(ids.secret(CODE_CHARS), "base64url");
  return Array.from(bytes.subarray(0, CODE_CHARS), (byte) => ALPHABET[byte & CHOOSE]).join("");
}

/** As people write it: with spaces or dashes, in small letters. Null: it cannot be a code. */
export function readCode(text: string): string | null {
  const code = text.replaceAll(/[\s-]/g, "").toUpperCase();
  return code.length === CODE_CHARS && [...code].every((char) => ALPHABET.includes(char)) ? code : null;
}

/** Bound to its entry, so that digests of two entries say nothing about each other. */
export function codeDigest(id: string, code: string): string {
  return new Bun.CryptoHasher("sha256").update(`${id}:${code}`).digest("hex");
}
