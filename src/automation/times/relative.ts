/** Lengths of time as people write them: "1h30m", "90 minutes", "half an hour", "an hour and a half". What has two meanings is not read. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  sec: SECOND,
  second: SECOND,
  m: MINUTE,
  min: MINUTE,
  minute: MINUTE,
  h: HOUR,
  hr: HOUR,
  hour: HOUR,
  d: 24 * HOUR,
  day: 24 * HOUR,
  w: 7 * 24 * HOUR,
  week: 7 * 24 * HOUR,
};
const ONE = new Set(["a", "an", "one"]);
const PIECE = /^(\d{1,12}(?:\.\d{1,3})?|an?|one)\s*([a-z]+)(?:\s+and\s+a\s+(half))?(?:\s*,\s*|\s+and\s+|\s+|$|(?=\d))/;
const HALF = /^(?:a\s+)?half\s+(?:an?\s+)?([a-z]+)$/;
const QUARTER = /^(?:a\s+)?quarter\s+(?:of\s+)?(?:an?\s+)?hour$/;

/** In milliseconds, or null when the text is not a length of time. */
export function readSpan(text: string): number | null {
  let rest = text.trim().toLowerCase();
  const half = UNITS[HALF.exec(rest)?.[1] ?? ""];
  if (half !== undefined) return half / 2;
  if (QUARTER.test(rest)) return HOUR / 4;
  let total = 0;
  let smaller = Infinity;
  while (rest !== "") {
    const [whole, count = "", word = "", andHalf] = PIECE.exec(rest) ?? [];
    const unit = UNITS[word] ?? UNITS[word.replace(/s$/, "")];
    if (whole === undefined || unit === undefined || unit >= smaller) return null; // "30m 1h" is a slip, not a length
    total += (ONE.has(count) ? 1 : Number(count)) * unit + (andHalf === undefined ? 0 : unit / 2);
    smaller = unit;
    rest = rest.slice(whole.length);
  }
  return total > 0 ? Math.round(total) : null;
}

/** "in 20m", "in half an hour": how far away, or null when the text does not say that. */
export function readRelative(text: string): number | null {
  const match = /^in\s+([^]+)$/i.exec(text.trim());
  return match ? readSpan(match[1] ?? "") : null;
}
