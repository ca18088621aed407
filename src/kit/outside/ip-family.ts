/** Whether a text is an IP address, decided on its characters. Node's own answer would load its whole network library with it. */

/** 0: it is none. A zone (`fe80::1%eth0`) belongs to an IPv6 address. */
export function ipFamily(text: string): 0 | 4 | 6 {
  if (isV4(text)) return 4;
  const [address = "", zone, ...more] = text.split("%");
  if (more.length > 0 || (zone !== undefined && !/^[0-9a-zA-Z-.:]+$/.test(zone))) return 0;
  return isV6(address) ? 6 : 0;
}

const V4_PART = /^(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/;
const V6_GROUP = /^[0-9a-fA-F]{1,4}$/;
const V6_GROUPS = 8;

function isV4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => V4_PART.test(part));
}

function isV6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1)?.at(-1) ?? "";
  const mixed = last.includes("."); // an IPv4 address may stand for the last two groups
  const count = groups.flat().length + (mixed ? 1 : 0);
  const plain = groups.flat().slice(0, mixed ? -1 : undefined);
  if (!plain.every((group) => V6_GROUP.test(group)) || (mixed && !isV4(last))) return false;
  return halves.length === 2 ? count < V6_GROUPS : count === V6_GROUPS;
}
