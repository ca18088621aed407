/** Which network addresses may be called: decided on their bytes, so that no other spelling of a private address gets through. */
import ipaddr from "ipaddr.js";

/**
 * True for an address of the open internet. Mapped IPv4 is judged as IPv4; every other IPv6 address that carries an IPv4 address (compatible,
 * NAT64, 6to4, Teredo, ISATAP) is not global, whatever it carries. A text that is not an address is not global.
 */
export function isGlobalAddress(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, "");
  if (!ipaddr.isValid(bare)) return false;
  const address = ipaddr.process(bare);
  if (address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || isGlobalV6(address.toByteArray());
}

const GLOBAL_V6_TOP_BITS = 0x20;
const TOP_BITS_MASK = 0xe0;
/** RFC 5214: the interface id of an ISATAP address is 0000:5efe or 0200:5efe, then an IPv4 address. */
const ISATAP = [0x00, 0x5e, 0xfe];
const ISATAP_AT = 9;

/** Only 2000::/3 is given out for the open internet; what carries IPv4 by an older convention lies outside of it, except ISATAP. */
function isGlobalV6(bytes: readonly number[]): boolean {
  const first = bytes[0] ?? 0;
  const interfaceTop = bytes[ISATAP_AT - 1] ?? 0;
  const isIsatap = (interfaceTop & ~0x02) === 0 && ISATAP.every((value, at) => bytes[ISATAP_AT + at] === value);
  return (first & TOP_BITS_MASK) === GLOBAL_V6_TOP_BITS && !isIsatap;
}

export function isAddress(text: string): boolean {
  return ipaddr.isValid(text.replace(/^\[|\]$/g, ""));
}
