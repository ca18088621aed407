/** The last touch on a finished JSON line: invisible characters escaped, length capped. One event is one line of valid JSON, always. */
import { visible } from "./visible.ts";

export const MAX_LINE_BYTES = 16 * 1024;
/** Of a line that is too long, fields up to this size are kept, as long as they fit. */
const MAX_KEPT_FIELD_BYTES = 400;
const MAX_KEPT_BYTES = 6_000;
const HEAD = ["level", "time", "msg"];

export function finishLine(json: string): string {
  // Inside JSON these characters stand only in strings, where their \u form means the same.
  const line = visible(json.trimEnd());
  if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  return shorten(line);
}

function shorten(line: string): string {
  const bytes = Buffer.byteLength(line);
  const kept: string[] = [];
  let keptBytes = 0;
  for (const [key, value] of Object.entries(JSON.parse(line) as Record<string, unknown>)) {
    const member = visible(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
    const size = Buffer.byteLength(member);
    const fits = size <= MAX_KEPT_FIELD_BYTES && keptBytes + size <= MAX_KEPT_BYTES;
    if (!fits && !HEAD.includes(key)) continue;
    kept.push(member);
    keptBytes += size;
  }
  return `{${kept.join(",")},"cutFromBytes":${bytes}}`;
}
