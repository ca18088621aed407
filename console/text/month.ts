/** The days of a month as a calendar shows them: whole weeks from Monday on, and the planned runs of each day. Pure. */
import type { CalendarRun, JobCalendar } from "../../src/contracts/automation/jobs.ts";

/** January is 1. */
export interface Month {
  readonly year: number;
  readonly month: number;
}

export interface MonthDay {
  /** 2026-11-16. */
  readonly date: string;
  readonly day: number;
  readonly isInMonth: boolean;
  readonly runs: readonly CalendarRun[];
}

const WEEK = 7;
const DAY_MS = 86_400_000;
const DATE_CHARS = "2026-11-16".length;

export function monthOf(date: Date): Month {
  return { year: date.getFullYear(), month: date.getMonth() + 1 };
}

/** Negative steps go back. */
export function shifted({ year, month }: Month, steps: number): Month {
  const count = year * 12 + (month - 1) + steps;
  return { year: Math.floor(count / 12), month: (count % 12) + 1 };
}

/** The first day that is shown, and how many are: the days of the month, with the rest of its first and last week. */
export function shownDays({ year, month }: Month): { readonly from: string; readonly days: number } {
  const first = Date.UTC(year, month - 1, 1);
  const before = (new Date(first).getUTCDay() + WEEK - 1) % WEEK;
  const inMonth = (Date.UTC(year, month, 1) - first) / DAY_MS;
  const days = Math.ceil((before + inMonth) / WEEK) * WEEK;
  return { from: dateText(first - before * DAY_MS), days };
}

export function weeksOf(shown: Month, calendar: JobCalendar | null): readonly (readonly MonthDay[])[] {
  const { from, days } = shownDays(shown);
  const runs = new Map((calendar?.days ?? []).map(({ date, runs: all }) => [date, all]));
  const start = Date.parse(from);
  const all = Array.from({ length: days }, (_, at): MonthDay => {
    const time = new Date(start + at * DAY_MS);
    const date = dateText(time.getTime());
    const isInMonth = time.getUTCMonth() + 1 === shown.month;
    return { date, day: time.getUTCDate(), isInMonth, runs: runs.get(date) ?? [] };
  });
  return Array.from({ length: days / WEEK }, (_, week) => all.slice(week * WEEK, (week + 1) * WEEK));
}

/** Of a moment that is read as if it were UTC. */
function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, DATE_CHARS);
}

/** By the person's own clock. */
export function localDate(at: Date): string {
  return dateText(Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()));
}
