/** Random expressions in windows of 72 hours around clock changes, in zones that change their clocks in every way there is. */
import { createTimes } from "../../automation/index.ts";
import type { Chance } from "../chance.ts";
import { oracle, wallMinutes, type WallMinute } from "./cron-oracle.ts";

export const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "Europe/Dublin",
  "Europe/Lisbon",
  "Europe/Moscow",
  "Europe/Chisinau",
  "America/New_York",
  "America/Chicago",
  "America/Denver",
  "America/Los_Angeles",
  "America/Anchorage",
  "America/Halifax",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "America/Asuncion",
  "America/Nuuk",
  "America/Scoresbysund",
  "America/Sao_Paulo",
  "Atlantic/Azores",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/Johannesburg",
  "Asia/Beirut",
  "Asia/Jerusalem",
  "Asia/Gaza",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Shanghai",
  "Asia/Tokyo",
  "Asia/Tehran",
  "Australia/Sydney",
  "Australia/Adelaide",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Easter",
  "Pacific/Norfolk",
  "Antarctica/Troll",
] as const;

const HOUR_MS = 3_600_000;
const WINDOW_HOURS = 72;
const FIRST_YEAR = 2024;
const YEARS = 6;

interface CronDifference {
  readonly expr: string;
  readonly timezone: string;
  readonly from: string;
  readonly expected: readonly string[];
  readonly got: readonly string[];
}

/** Runs that many cases and returns those in which product and oracle disagree, and how many moments were compared. */
export function compareCron(chance: Chance, cases: number): { differences: CronDifference[]; moments: number } {
  const differences: CronDifference[] = [];
  let moments = 0;
  const perWindow = 10;
  const changes = new Map<string, readonly [number, ...number[]]>();
  for (let done = 0; done < cases; done += perWindow) {
    const timezone = chance.pick(ZONES);
    const known = changes.get(timezone) ?? transitions(timezone);
    changes.set(timezone, known);
    const middle = chance.pick(known);
    const from = middle - chance.between(0, WINDOW_HOURS - 1) * HOUR_MS;
    const minutes = wallMinutes(from, from + WINDOW_HOURS * HOUR_MS, timezone);
    for (let one = 0; one < Math.min(perWindow, cases - done); one++) {
      const expr = randomExpression(chance);
      const difference = compare(expr, timezone, minutes);
      moments += difference.expected.length;
      if (difference.expected.join() !== difference.got.join()) differences.push(difference);
    }
  }
  return { differences, moments };
}

function compare(expr: string, timezone: string, minutes: readonly WallMinute[]): CronDifference {
  const from = minutes[0]?.at ?? 0;
  const to = minutes.at(-1)?.at ?? 0;
  const times = createTimes(() => "UTC");
  const read = times.read({ kind: "cron", expr, timezone });
  const got: number[] = [];
  for (let at = read.ok ? times.next(read.schedule, from, 0) : null; at !== null && at <= to;) {
    got.push(at);
    at = read.ok ? times.next(read.schedule, at, 0) : null;
  }
  const show = (at: number): string => new Date(at).toISOString();
  return { expr, timezone, from: show(from), expected: oracle(expr, minutes).map(show), got: got.map(show) };
}

/** Whole hours at which the offset is about to change; one ordinary hour for zones that never do. */
function transitions(timezone: string): readonly [number, ...number[]] {
  const format = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
  const offset = (at: number): string => format.format(at).split("GMT")[1] ?? "";
  const found: number[] = [];
  const start = Date.UTC(FIRST_YEAR, 0, 1);
  for (let day = 0; day < YEARS * 365; day++) {
    const at = start + day * 24 * HOUR_MS;
    if (offset(at) === offset(at + 24 * HOUR_MS)) continue;
    for (let hour = 0; hour < 24; hour++)
      if (offset(at + hour * HOUR_MS) !== offset(at + (hour + 1) * HOUR_MS)) found.push(at + hour * HOUR_MS);
  }
  const [first = start, ...rest] = found;
  return [first, ...rest];
}

function randomExpression(chance: Chance): string {
  const time = chance.between(0, 4);
  const minute = time <= 3 ? String(chance.between(0, 59)) : randomField(chance, 0, 59);
  const hour = time <= 1 ? String(chance.between(0, 4)) : randomField(chance, 0, 23);
  const day = chance.between(0, 3) === 0 ? randomField(chance, 1, 31) : "*";
  const month = chance.between(0, 7) === 0 ? randomField(chance, 1, 12) : "*";
  const weekday = chance.between(0, 3) === 0 ? randomField(chance, 0, 6) : "*";
  return [minute, hour, day, month, weekday].join(" ");
}

function randomField(chance: Chance, min: number, max: number): string {
  const some = (): number => min + chance.between(0, max - min);
  const low = some();
  const high = low + chance.between(0, max - low);
  switch (chance.between(0, 5)) {
    case 0:
      return "*";
    case 1:
      return `*/${1 + chance.between(0, Math.min(30, max) - 1)}`;
    case 2:
      return `${low}-${high}`;
    case 3:
      return `${low}-${high}/${1 + chance.between(0, 6)}`;
    case 4:
      return [some(), some(), some()].toSorted((one, other) => one - other).join(",");
    default:
      return String(low);
  }
}

/** Near to right, and wrong in one place. */
export function invalidExpression(chance: Chance): string {
  const fields = randomExpression(chance).split(" ");
  const place = chance.between(0, 4);
  const tooHigh = ["60", "24", "32", "13", "8"][place] ?? "99";
  const wrong = chance.pick([
    tooHigh,
    `${tooHigh}-${tooHigh}`,
    `1,${tooHigh}`,
    "*/0",
    "-1",
    "x",
    "1-",
    "1..3",
    "5-2",
    "1.5",
    "**",
    "*/",
    "1 2 3",
    "",
    "$(date)",
    "\u0000",
    "٣",
    "9".repeat(chance.between(3, 100)),
    "*/-5",
    "((((a+)+)+)+)$",
  ]);
  fields[place] = wrong;
  const expr = fields.join(" ");
  if (wrong === "1 2 3") return `${expr} *`;
  return chance.hits(0.05) ? "0 0 31 2 *" : expr;
}
