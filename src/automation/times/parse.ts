/** Reads a schedule as people write it, and says what is wrong with it. What passes here has at least one moment, or says that it is over. */
import type { Schedule } from "../../contracts/automation/job.ts";
import { parseDuration } from "../../kit/duration.ts";
import type { CronReader } from "./cron.ts";
import { fromLocal, isTimezone } from "./zone.ts";

export type ParsedSchedule =
  | { readonly kind: "cron"; readonly expr: string; readonly timezone: string }
  | { readonly kind: "every"; readonly ms: number }
  | { readonly kind: "at"; readonly at: number };

export type ScheduleReading =
  { readonly ok: true; readonly schedule: ParsedSchedule } | { readonly ok: false; readonly problem: string };

const MAX_EXPR_CHARS = 200;
const MIN_EVERY_MS = 1_000;
const MAX_EVERY_MS = 366 * 86_400_000;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

export function readSchedule(schedule: Schedule, cron: CronReader, hostZone: () => string): ScheduleReading {
  const expr = schedule.expr.trim();
  if (expr.length > MAX_EXPR_CHARS) return wrong(`The schedule is longer than ${MAX_EXPR_CHARS} characters.`);
  const { timezone } = schedule;
  if (timezone !== undefined && !isTimezone(timezone))
    return wrong(`"${timezone.slice(0, 64)}" is not a time zone. Use a name such as "Europe/Berlin" or "UTC".`);
  switch (schedule.kind) {
    case "cron":
      return readCron(expr, timezone ?? hostZone(), cron);
    case "every":
      return readEvery(expr);
    case "at":
      return readAt(expr, timezone ?? "UTC");
  }
}

function readCron(expr: string, timezone: string, cron: CronReader): ScheduleReading {
  const read = cron.read(expr, timezone);
  return read.ok ? { ok: true, schedule: { kind: "cron", expr, timezone } } : wrong(read.problem);
}

function readEvery(expr: string): ScheduleReading {
  const ms = parseDuration(expr.replace(/\s+/g, "")); // longer ways to say it are made short when a job is made
  if (ms === null) return wrong(`"${expr}" is not an interval. Write a number and a unit: 30m, 2h, 1d.`);
  if (ms < MIN_EVERY_MS) return wrong("An interval is at least 1s.");
  if (ms > MAX_EVERY_MS) return wrong("An interval is at most 366d.");
  return { ok: true, schedule: { kind: "every", ms } };
}

function readAt(expr: string, timezone: string): ScheduleReading {
  const match = ISO.exec(expr);
  if (!match) return wrong(`"${expr}" is not a moment. Write it as 2026-05-01T09:00:00Z, or without the Z for UTC.`);
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const fraction = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3)); // what is due in three seconds is not due in two and a bit
  const local = Date.UTC(year, month - 1, day, hour, minute, second, fraction);
  const real = new Date(local);
  const exists =
    real.getUTCMonth() === month - 1 && real.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!exists) return wrong(`There is no ${expr}: look at the day and the time.`);
  const offset = match[8];
  if (offset !== undefined) return { ok: true, schedule: { kind: "at", at: local - offsetMs(offset) } };
  return { ok: true, schedule: { kind: "at", at: fromLocal(local, timezone) } };
}

function offsetMs(offset: string): number {
  if (offset.toUpperCase() === "Z") return 0;
  const digits = offset.slice(1).replace(":", "");
  const ms = (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000;
  return offset.startsWith("-") ? -ms : ms;
}

function wrong(problem: string): ScheduleReading {
  return { ok: false, problem };
}
