/** Ids that count, so that a test can name them beforehand. Never for production: its secrets can be guessed. */
import type { Ids } from "../kit/ids.ts";

export function createSeqIds(): Ids {
  const counts = new Map<string, number>();
  let secrets = 0;
  return {
    next(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      return `${prefix}_${String(count).padStart(6, "0")}`;
    },
    secret: (bytes) => secretText(++secrets, bytes),
  };
}

/** Looks like the real thing (length, alphabet, no two alike), so that code which checks for that is satisfied. */
function secretText(count: number, bytes: number): string {
  const out = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 32) {
    new Bun.CryptoHasher("sha256").update(`seq-ids ${count} ${at}`).digest().copy(out, at);
  }
  return out.toString("base64url");
}
