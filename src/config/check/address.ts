/** What can be said about a bind or proxy address without asking the network: is it valid, is it loopback, how much does it cover. */
import { ipFamily } from "../../kit/outside/ip-family.ts";

/** How far a bind reaches: this machine, one address of it, or every address it has. */
export type Reach = "loopback" | "one" | "all";

export function reachOf(bind: string): Reach {
  if (bind === "loopback" || isLoopback(bind)) return "loopback";
  if (bind === "lan" || isUnspecified(bind)) return "all";
  return "one";
}

export const isBindAddress = (bind: string): boolean => bind === "loopback" || bind === "lan" || ipFamily(bind) !== 0;

export const isAddressOrRange = (text: string): boolean => parseRange(text) !== null;

/** True for ranges that hold all, or practically all, addresses of their family. */
export function coversEverything(text: string): boolean {
  const range = parseRange(text);
  if (!range) return false;
  const { family, bits, address } = range;
  if (family === 4) return bits <= WIDEST_V4_BITS;
  const mappedV4 = isMappedV4(address) && bits <= MAPPED_V4_PREFIX_BITS + WIDEST_V4_BITS;
  return bits <= WIDEST_V6_BITS || mappedV4;
}

const WIDEST_V4_BITS = 1;
const WIDEST_V6_BITS = 3; // 2000::/3 is all of the public IPv6 internet
const MAPPED_V4_PREFIX_BITS = 96;

function parseRange(text: string): { family: 4 | 6; address: string; bits: number } | null {
  const [address = "", bitsText, ...more] = text.split("/");
  const family = ipFamily(address);
  if ((family !== 4 && family !== 6) || more.length > 0 || address.includes("%")) return null;
  const most = family === 4 ? 32 : 128;
  if (bitsText === undefined) return { family, address, bits: most };
  if (!/^[0-9]{1,3}$/.test(bitsText) || Number(bitsText) > most) return null;
  return { family, address, bits: Number(bitsText) };
}

function isLoopback(address: string): boolean {
  if (ipFamily(address) === 4) return address.startsWith("127.");
  return ipFamily(address) === 6 && canonicalV6(address) === "::1";
}

function isUnspecified(address: string): boolean {
  if (ipFamily(address) === 4) return address === "0.0.0.0";
  return ipFamily(address) === 6 && canonicalV6(address) === "::";
}

const isMappedV4 = (address: string): boolean => canonicalV6(address).startsWith("::ffff:");

/** The URL parser knows the one short spelling of an IPv6 address. */
const canonicalV6 = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);
