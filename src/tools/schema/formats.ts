/**
 * The formats that are checked; any other `format` only informs. Written so that each looks at a character a fixed number of times:
 * the expressions that validators ship for them can take seconds for one long address.
 */
import { ipFamily } from "../../kit/outside/ip-family.ts";

export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", isTime],
  ["date-time", isDateTime],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", (text: string) => ipFamily(text) === 4],
  ["ipv6", (text: string) => ipFamily(text) === 6 && !text.includes("%")],
  ["uri", isUri],
  ["uuid", (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
]);

function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

const MINUTES_PER_DAY = 1_440;

/** RFC 3339: with a zone, and a second 60 only where a leap second can be. */
function isTime(text: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!match) return false;
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  const [zoneHour = 0, zoneMinute = 0] = match.slice(5, 7).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return false;
  if (second < 60) return true;
  const ahead = (match[4] === "-" ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  return (hour * 60 + minute - ahead + MINUTES_PER_DAY) % MINUTES_PER_DAY === MINUTES_PER_DAY - 1;
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /[tT]/.test(text.charAt(10)) && isTime(text.slice(11));
}

const MAX_HOSTNAME_CHARS = 253;

function isHostname(text: string): boolean {
  if (text.length > MAX_HOSTNAME_CHARS) return false;
  return text.split(".").every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const atoms = local.split(".").every((atom) => /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+$/i.test(atom));
  if (!atoms && !/^"(?:[^"\\]|\\[ -~])*"$/.test(local)) return false;
  return isHostname(domain) || (/^\[.*\]$/.test(domain) && ipFamily(domain.slice(1, -1).replace(/^IPv6:/i, "")) !== 0);
}

/** Asked by what must not be there: searching for that is many times faster than matching all that may. */
const hasOnlyAddressChars = (text: string): boolean =>
  !/[^\w.~:/?@!$&'()*+,;=%-]/.test(text) && !/%(?![0-9a-f]{2})/i.test(text);

/** RFC 3986: a scheme, then characters an address may have; brackets only around the number of a host, # once. */
function isUri(text: string): boolean {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0];
  if (scheme === undefined) return false;
  const mark = text.indexOf("#");
  const body = mark === -1 ? text.slice(scheme.length) : text.slice(scheme.length, mark);
  if (mark !== -1 && !hasOnlyAddressChars(text.slice(mark + 1))) return false;
  const numbered = /^\/\/(?:[\w.~!$&'()*+,;=:%-]*@)?\[([0-9a-f:.]*)\](?=[:/?]|$)/i.exec(body);
  if (!numbered) return hasOnlyAddressChars(body);
  return ipFamily(numbered[1] ?? "") === 6 && hasOnlyAddressChars(body.slice(numbered[0].length));
}
