/** Days and months where the gateway lives. Dates are text, so that they can be compared and are the same in store and memory. */
import { hostZone } from "../kit/clock.ts";

export interface Today {
  readonly day: string; // 2026-01-31
  readonly month: string; // 2026-01
}

interface Calendar {
  /** The name of the zone, for people. */
  timezone(): string;
  at(now: number): Today;
}

const MINUTE_MS = 60_000;

/** Without a zone, that of the machine: its days are known without the tables of all zones. */
export function createCalendar(timezone?: string): Calendar {
  const read = timezone === undefined ? localDate : dateIn(timezone);
  let known: { readonly minute: number; readonly today: Today } | null = null; // days begin on a minute, everywhere
  return {
    timezone: () => timezone ?? hostZone(),
    at(now) {
      const minute = Math.floor(now / MINUTE_MS);
      if (known?.minute !== minute) known = { minute, today: read(now) };
      return known.today;
    },
  };
}

function localDate(now: number): Today {
  const date = new Date(now);
  return dated(String(date.getFullYear()), String(date.getMonth() + 1), String(date.getDate()));
}

function dateIn(timezone: string): (now: number) => Today {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (now) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
    for (const { type, value } of format.formatToParts(now)) parts[type] = value;
    return dated(parts.year ?? "", parts.month ?? "", parts.day ?? "");
  };
}

function dated(year: string, month: string, day: string): Today {
  const start = `${year.padStart(4, "0")}-${month.padStart(2, "0")}`;
  return { month: start, day: `${start}-${day.padStart(2, "0")}` };
}

export function firstOfMonth(month: string): string {
  return `${month}-01`;
}

/** So many days before a date. */
export function daysBefore(day: string, count: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() - count);
  return at.toISOString().slice(0, 10);
}

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** When a limit of this period is free again, for people. */
export function freeAgain(period: "day" | "month", { month }: Today, timezone: string): string {
  if (period === "day") return `at midnight (${timezone})`;
  const [year = 0, number = 1] = month.split("-").map(Number);
  const next = number % 12;
  return `on 1 ${MONTHS[next]} ${next === 0 ? year + 1 : year} (${timezone})`;
}
