/** Which network addresses may be called: decided on their bytes, so that no other spelling of a private address gets through. */
import ipaddr from "ipaddr.js";

/** True for an address of the open internet. IPv4 inside IPv6 is judged as IPv4; anything that is not an address is not global. */
export function isGlobalAddress(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, "").split("%")[0] ?? "";
  if (!ipaddr.isValid(bare)) return false;
  return ipaddr.process(bare).range() === "unicast";
}

export function isAddress(text: string): boolean {
  return ipaddr.isValid(text.replace(/^\[|\]$/g, ""));
}
