/** One-time codes for the sign-in link. Kept in memory only: a restart ends them all. */
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import { hexDigest } from "./digests.ts";

export interface Codes {
  make(): string;
  /** By its digest. True once per code, within its time. */
  use(digest: string): boolean;
}

export const CODE_MS = 10 * 60_000;
const MAX_CODES = 100;
const CODE_BYTES = 16;
const CODE = /^[\w-]{22}$/;

export function looksLikeCode(value: string): boolean {
  return CODE.test(value);
}

export function createCodes(clock: Clock, ids: Ids): Codes {
  const expiries = new Map<string, number>();
  return {
    make() {
      const code = ids.secret(CODE_BYTES);
      const [oldest] = expiries.keys();
      if (expiries.size >= MAX_CODES && oldest !== undefined) expiries.delete(oldest);
      expiries.set(hexDigest(code), clock.now() + CODE_MS);
      return code;
    },
    use(digest) {
      const expiresAt = expiries.get(digest) ?? 0;
      expiries.delete(digest);
      return expiresAt > clock.now();
    },
  };
}
