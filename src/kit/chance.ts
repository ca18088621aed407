/** A number from 0 up to 1, for pauses that are not the same for everybody. */
import type { Ids } from "./ids.ts";

const BYTES = 4;

export function chanceOf(ids: Ids): number {
  return Buffer.from(ids.secret(BYTES), "base64url").readUInt32BE() / 2 ** (8 * BYTES);
}
