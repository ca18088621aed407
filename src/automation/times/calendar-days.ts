/** Days from midnight to midnight in a zone, and the moments of a plain cron expression on them. Pure. */
import { DAYS } from "./words/names.ts";
import { type CronFields, fieldsOf } from "./words/say-schedule.ts";
import { localConverter } from "./zone.ts";

export interface CalendarDays {
  /** The date of a moment, or null: it is on none of the days. */
  dateOf(at: number): string | null;
  readonly start: number;
  /** Not on the days any more. */
  readonly end: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DATE_CHARS = "2026-11-01".length;

/** `first`: midnight of the first day as if it were UTC. */
export function calendarDays(first: number, days: number, timezone: string): CalendarDays {
  const instantOf = localConverter(timezone);
  const starts = Array.from({ length: days + 1 }, (_, day) => instantOf(first + day * DAY_MS));
  const [start = 0] = starts;
  const end = starts.at(-1) ?? start;
  return {
    start,
    end,
    dateOf(at) {
      if (at < start || at >= end) return null;
      const day = starts.findLastIndex((one) => one <= at);
      return new Date(first + day * DAY_MS).toISOString().slice(0, DATE_CHARS);
    },
  };
}

/** Fixed times of day on plain days, so that no library has to search for each: a month of many jobs is asked for at once. */
interface PlainTimes {
  readonly perDay: number;
  /** Moments after `after` and before `end`, in order. `instantOf`: of a local time in the zone of the schedule. */
  between(after: number, end: number, instantOf: (local: number) => number): Iterable<number>;
}

/** Null: not a plain one. */
export function plainTimes(expr: string): PlainTimes | null {
  const fields = fieldsOf(expr);
  if (!fields || (fields.day !== "*" && fields.weekday !== "*")) return null;
  const minute = numberIn(fields.minute);
  const hours = fields.hour.split(",").map(numberIn);
  const fits = dayRule(fields);
  if (minute === null || hours.includes(null) || !fits) return null;
  const times = hours.map((hour) => (hour ?? 0) * HOUR_MS + minute * MINUTE_MS).toSorted((one, other) => one - other);
  return {
    perDay: times.length,
    *between(after, end, instantOf) {
      // a day before and after, because the days of the zone do not begin with those of UTC
      for (let day = Math.floor(after / DAY_MS) * DAY_MS - DAY_MS; day < end + DAY_MS; day += DAY_MS) {
        if (!fits(new Date(day))) continue;
        for (const time of times) {
          const at = instantOf(day + time);
          if (at > after && at < end) yield at;
        }
      }
    },
  };
}

/** Whether a date, as if it were UTC, is one of the days. Null: the fields say more than plain numbers. */
function dayRule({ day, month, weekday }: CronFields): ((date: Date) => boolean) | null {
  const days = day === "*" || day === "L" ? [] : listOf(day);
  const months = month === "*" ? [] : listOf(month);
  const weekdays = weekday === "*" ? [] : weekdaysOf(weekday);
  if (!days || !months || !weekdays) return null;
  return (date) => {
    const isLast = new Date(date.getTime() + DAY_MS).getUTCDate() === 1;
    return (
      (day === "*" || (day === "L" ? isLast : days.includes(date.getUTCDate()))) &&
      (month === "*" || months.includes(date.getUTCMonth() + 1)) &&
      (weekday === "*" || weekdays.includes(date.getUTCDay()))
    );
  };
}

function weekdaysOf(field: string): readonly number[] | null {
  const range = /^([0-6])-([0-7])$/.exec(field);
  if (!range) return listOf(field);
  const from = Number(range[1]);
  const to = Number(range[2]);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => (from + at) % DAYS.length);
}

function listOf(field: string): readonly number[] | null {
  const numbers = field.split(",").map(numberIn);
  return numbers.some((one) => one === null) ? null : numbers.map(Number);
}

function numberIn(text: string): number | null {
  return /^\d{1,2}$/.test(text) ? Number(text) : null;
}
