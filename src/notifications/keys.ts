/** The keys of notifications, all made of one: the pair that push services know this gateway by (VAPID, RFC 8292), and the key of decision tokens. */
import { createECDH, hkdfSync } from "node:crypto";

export interface PushKeys {
  /** An uncompressed point of P-256, in base64url: what browsers are given. */
  readonly publicKey: string;
  readonly privateKey: string;
  /** Signs decision tokens. */
  readonly tokenKey: Uint8Array;
}

const KEY_BYTES = 32;
/** One number in four billion is no key of P-256; eight of them in a row do not happen. */
const MAX_TRIES = 8;

/** The same keys from the same seed, so that subscriptions outlive restarts and hold for every gateway of a database. */
export function pushKeysOf(seed: Uint8Array): PushKeys {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", seed, "", purpose, KEY_BYTES));
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const pair = pairOf(derive(`pi-gateway vapid ${attempt}`));
    if (pair) return { ...pair, tokenKey: derive("pi-gateway decision tokens") };
  }
  throw new Error("no key of P-256 could be made");
}

/** Null: the number is zero, or too large for the curve. */
function pairOf(privateKey: Buffer): Pick<PushKeys, "publicKey" | "privateKey"> | null {
  const curve = createECDH("prime256v1");
  try {
    curve.setPrivateKey(privateKey);
  } catch {
    return null; // the next number is one
  }
  return { publicKey: curve.getPublicKey("base64url"), privateKey: privateKey.toString("base64url") };
}
