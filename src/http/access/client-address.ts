/** Whose request it is, as far as the network can say. Addresses count failures and choose cookie flags; they never grant anything. */

export interface ProxyRule {
  readonly bytes: Uint8Array;
  readonly prefixBits: number;
}

export interface ClientAddress {
  /** One spelling per client: IPv4 as it is, mapped IPv4 folded, IPv6 cut to its /64. */
  readonly key: string;
  /** A trusted proxy says that the browser's side of the connection is encrypted. */
  readonly secure: boolean;
}

const MAX_HOPS = 32;
const V4_MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];
const V6_GROUPS = 8;
const NETWORK_BYTES = 8;

export function readClient(peer: string, headers: Headers, proxies: readonly ProxyRule[]): ClientAddress {
  const own = parseIp(peer);
  if (own === null || !isTrusted(own, proxies)) return { key: keyOf(own), secure: false };
  const secure = headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase() === "https";
  return { key: keyOf(clientBehind(own, headers.get("x-forwarded-for"), proxies)), secure };
}

/** The nearest hop that is not one of our proxies: everything left of it was written by strangers. */
function clientBehind(peer: Uint8Array, forwarded: string | null, proxies: readonly ProxyRule[]): Uint8Array {
  let nearest = peer;
  const hops = forwarded === null ? [] : forwarded.split(",").slice(-MAX_HOPS);
  for (const hop of hops.toReversed()) {
    const address = parseIp(withoutPort(hop.trim()));
    if (address === null) return nearest;
    nearest = address;
    if (!isTrusted(address, proxies)) return nearest;
  }
  return nearest;
}

export function parseProxyRules(entries: readonly string[]): { rules: readonly ProxyRule[]; unreadable: string[] } {
  const rules: ProxyRule[] = [];
  const unreadable: string[] = [];
  for (const entry of entries) {
    const rule = parseProxyRule(entry);
    if (rule === null) unreadable.push(entry);
    else rules.push(rule);
  }
  return { rules, unreadable };
}

function parseProxyRule(entry: string): ProxyRule | null {
  const [address = "", prefix, ...rest] = entry.trim().split("/");
  const bytes = parseIp(address);
  if (bytes === null || rest.length > 0) return null;
  const width = bytes.length * 8;
  if (prefix === undefined) return { bytes, prefixBits: width };
  if (!/^\d{1,3}$/.test(prefix)) return null;
  const mapped = bytes.length === 4 && address.includes(":");
  const prefixBits = Number(prefix) - (mapped ? 96 : 0);
  return prefixBits < 0 || prefixBits > width ? null : { bytes, prefixBits };
}

function isTrusted(address: Uint8Array, proxies: readonly ProxyRule[]): boolean {
  return proxies.some((rule) => rule.bytes.length === address.length && sharesPrefix(address, rule));
}

function sharesPrefix(address: Uint8Array, rule: ProxyRule): boolean {
  for (let bit = 0; bit < rule.prefixBits; bit += 8) {
    const at = bit >> 3;
    const mask = rule.prefixBits - bit >= 8 ? 255 : 255 & (255 << (8 - (rule.prefixBits - bit)));
    if (((address[at] ?? 0) & mask) !== ((rule.bytes[at] ?? 0) & mask)) return false;
  }
  return true;
}

function keyOf(address: Uint8Array | null): string {
  if (address === null) return "unknown";
  if (address.length === 4) return address.join(".");
  return `${Buffer.from(address.subarray(0, NETWORK_BYTES)).toString("hex")}/64`;
}

/** `1.2.3.4:80` and `[::1]:80` occur in forwarding headers. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop);
  if (bracketed) return bracketed[1] ?? "";
  return /^[\d.]+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

/** 4 bytes for IPv4 (mapped IPv4 too), 16 for IPv6, null for anything else. */
export function parseIp(text: string): Uint8Array | null {
  if (!text.includes(":")) return parseV4(text);
  const bytes = parseV6(text.split("%")[0] ?? "");
  if (bytes === null) return null;
  return V4_MAPPED_PREFIX.every((value, at) => bytes[at] === value) ? bytes.slice(12) : bytes;
}

function parseV4(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  return Uint8Array.from(parts, Number);
}

function parseV6(text: string): Uint8Array | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = groupsOf(halves[0] ?? "", halves.length === 1);
  const tail = groupsOf(halves[1] ?? "", true);
  if (head === null || tail === null) return null;
  const missing = V6_GROUPS - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

/** Only the end of an address may be written as IPv4. */
function groupsOf(text: string, isEnd: boolean): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [at, part] of parts.entries()) {
    if (part.includes(".")) {
      const v4 = isEnd && at === parts.length - 1 ? parseV4(part) : null;
      if (v4 === null) return null;
      groups.push(((v4[0] ?? 0) << 8) | (v4[1] ?? 0), ((v4[2] ?? 0) << 8) | (v4[3] ?? 0));
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}
