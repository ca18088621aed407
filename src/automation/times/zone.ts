/** Local time in a named zone, by the machine's own time-zone data. */

const MAX_NAME_CHARS = 64;
const DAY_MS = 86_400_000;

export function isTimezone(name: string): boolean {
  if (name.length > MAX_NAME_CHARS) return false;
  try {
    formatFor(name);
    return true;
  } catch {
    return false; // the machine does not know it
  }
}

/** The instant of a local time. One that a clock change skips becomes the first instant after the gap; one that comes twice, the first. */
export function fromLocal(local: number, timezone: string): number {
  const format = formatFor(timezone);
  const offsetAt = (at: number): number => toLocal(at, format) - at;
  const offsets = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
  const fitting = offsets.map((offset) => local - offset).filter((at) => toLocal(at, format) === local);
  if (fitting.length > 0) return Math.min(...fitting);
  let before = local - Math.max(...offsets);
  let after = local - Math.min(...offsets);
  const old = offsetAt(before);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle) === old) before = middle;
    else after = middle;
  }
  return after;
}

/** As `fromLocal`, for many times of one zone: the machine is asked once for each day, and more often only around a clock change. */
export function localConverter(timezone: string): (local: number) => number {
  const format = formatFor(timezone);
  const offsets = new Map<number, number>();
  const offsetOn = (day: number): number => {
    const offset = offsets.get(day) ?? toLocal(day * DAY_MS, format) - day * DAY_MS;
    offsets.set(day, offset);
    return offset;
  };
  return (local) => {
    const day = Math.floor(local / DAY_MS);
    const before = offsetOn(day - 1);
    return before === offsetOn(day + 2) ? local - before : fromLocal(local, timezone);
  };
}

/** The local date and time at an instant, read as if it were UTC. */
export function toLocalTime(at: number, timezone: string): number {
  return toLocal(at, formatFor(timezone));
}

function toLocal(at: number, format: Intl.DateTimeFormat): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1_000) + 1_000) % 1_000);
}

function formatFor(timezone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}
