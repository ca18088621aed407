/** The secret of a key: 256 random bits behind a prefix that redaction and secret scanners know, and the digest that is kept of it. */
import type { Ids } from "../../kit/ids.ts";

const PREFIX = "pgw_";
const SECRET_BYTES = 32;
const SECRET = /^pgw_[A-Za-z0-9_-]{20,128}$/;

export function newKeySecret(ids: Ids): string {
  return `${PREFIX}${ids.secret(SECRET_BYTES)}`;
}

/** Without characters that are escaped in a session key, which begins with it. */
export function newKeyId(ids: Ids): string {
  return ids.next("key").replaceAll("_", "-");
}

/** Whether a program shows a key, right or wrong, and not the token of the gateway. */
export function isKeySecret(text: string): boolean {
  return SECRET.test(text);
}

/** A slow hash would add nothing: 256 random bits cannot be guessed. */
export function keyDigest(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}
