/** Another way to know when a cron expression fires: walk every minute of a window, read the clock on the wall, and apply the published rule. Shares no code with the product. */

export interface WallMinute {
  readonly at: number;
  readonly wall: Wall;
}

interface Wall {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

const MINUTE_MS = 60_000;

/** Every minute of the window as the clock on the wall of that zone shows it. `at` is the instant; the first is a whole minute. */
export function wallMinutes(from: number, to: number, timezone: string): readonly WallMinute[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const minutes: WallMinute[] = [];
  for (let at = from; at < to; at += MINUTE_MS) {
    const [, day = "", month = "", year = "", hour = "", minute = ""] =
      /^(\d\d)\/(\d\d)\/(\d+), (\d\d):(\d\d)$/.exec(format.format(at)) ?? [];
    minutes.push({ at, wall: wallOf(Number(year), Number(month), Number(day), Number(hour) * 60 + Number(minute)) });
  }
  return minutes;
}

function wallOf(year: number, month: number, day: number, minuteOfDay: number): Wall {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return { minute: minuteOfDay % 60, hour: Math.floor(minuteOfDay / 60), day, month, weekday };
}

/** The instants at which a 5-field expression fires, among the minutes after the first. */
export function oracle(expr: string, minutes: readonly WallMinute[]): readonly number[] {
  const rule = parse(expr);
  const fixed = rule.minute.size === 1 && rule.hour.size === 1 && rule.plainTime;
  const seen = new Set<string>();
  const fires: number[] = [];
  for (const [index, { at, wall }] of minutes.entries()) {
    const before = minutes[index - 1];
    const fits = matches(rule, wall);
    const repeated = seen.has(key(wall));
    seen.add(key(wall));
    if (!before) continue;
    const skipped = fixed && between(before.wall, wall).some((gone) => matches(rule, gone));
    if (skipped || (fits && !(fixed && repeated))) fires.push(at);
  }
  return fires;
}

/** What the clock never showed between two neighbouring minutes, all of one day. */
function between(before: Wall, now: Wall): readonly Wall[] {
  const from = before.hour * 60 + before.minute + 1;
  const to = now.hour * 60 + now.minute;
  const midnight = before.day !== now.day;
  const first = midnight ? from - 24 * 60 : from;
  if (first < 0 || first >= to) return [];
  return Array.from({ length: to - first }, (_, step) => {
    const minuteOfDay = first + step;
    return { ...now, minute: minuteOfDay % 60, hour: Math.floor(minuteOfDay / 60) };
  });
}

function key({ month, day, hour, minute }: Wall): string {
  return `${month}-${day} ${hour}:${minute}`;
}

interface Rule {
  readonly minute: ReadonlySet<number>;
  readonly hour: ReadonlySet<number>;
  readonly day: ReadonlySet<number>;
  readonly month: ReadonlySet<number>;
  readonly weekday: ReadonlySet<number>;
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
  /** Minute and hour are written without a star and without a step. */
  readonly plainTime: boolean;
}

function matches(rule: Rule, wall: Wall): boolean {
  if (!rule.minute.has(wall.minute) || !rule.hour.has(wall.hour) || !rule.month.has(wall.month)) return false;
  const day = rule.day.has(wall.day);
  const weekday = rule.weekday.has(wall.weekday);
  if (rule.anyDay) return weekday;
  if (rule.anyWeekday) return day;
  return day || weekday;
}

function parse(expr: string): Rule {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = expr.split(" ");
  return {
    minute: field(minute, 0, 59),
    hour: field(hour, 0, 23),
    day: field(day, 1, 31),
    month: field(month, 1, 12),
    weekday: new Set([...field(weekday, 0, 7)].map((number) => number % 7)),
    anyDay: day === "*",
    anyWeekday: weekday === "*",
    plainTime: !/[*/]/.test(minute + hour),
  };
}

function field(text: string, min: number, max: number): ReadonlySet<number> {
  const fitting = new Set<number>();
  for (const part of text.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [low = min, high = range.includes("-") || range !== "*" ? low : max] =
      range === "*" ? [min, max] : range.split("-").map(Number);
    const last = part.includes("/") && !range.includes("-") && range !== "*" ? max : high;
    for (let value = low; value <= last; value += Number(step)) fitting.add(value);
  }
  return fitting;
}
