/** UUIDs for people and programs that expect that form. The chance in them comes from Ids. */
import type { Ids } from "./ids.ts";

const BYTES = 16;
/** RFC 9562: version 4, variant 10. */
const VERSION = 0x40;
const VARIANT = 0x80;

export function uuid(ids: Pick<Ids, "secret">): string {
  const bytes = Buffer.from(ids.secret(BYTES), "base64url");
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | VERSION, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | VARIANT, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
