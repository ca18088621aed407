/** Days of the usage ledger: which a choice means, every one of them with its sum, and where a budget will be at the end of its period. Pure. */
import type { LimitState } from "../../src/contracts/budget.ts";
import type { UsageItem } from "../../src/contracts/store/usage.ts";

/** `2026-01-31`. */
type Day = string;

export interface DaySum {
  readonly day: Day;
  readonly costUsd: number;
  readonly tokens: number;
  readonly turns: number;
}

export const PERIODS = {
  month: "This month",
  lastMonth: "Last month",
  week: "Last 7 days",
  days30: "Last 30 days",
  days90: "Last 90 days",
} as const;
export type Period = keyof typeof PERIODS;

const DAY_MS = 86_400_000;
const LENGTHS = { week: 7, days30: 30, days90: 90 } as const;

export function spanOf(period: Period, today: Day): { readonly from: Day; readonly to: Day } {
  if (period === "month") return { from: `${today.slice(0, 7)}-01`, to: today };
  if (period === "lastMonth") {
    const to = addDays(`${today.slice(0, 7)}-01`, -1);
    return { from: `${to.slice(0, 7)}-01`, to };
  }
  return { from: addDays(today, 1 - LENGTHS[period]), to: today };
}

/** Oldest first; days on which nothing was used are there too. */
export function everyDay(from: Day, to: Day, items: readonly UsageItem[]): readonly DaySum[] {
  const byDay = new Map(items.map((item) => [item.key, item]));
  const days: DaySum[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const { costUsd = 0, inputTokens = 0, outputTokens = 0, turns = 0 } = byDay.get(day) ?? {};
    days.push({ day, costUsd, tokens: inputTokens + outputTokens, turns });
  }
  return days;
}

function addDays(day: Day, count: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
}

/** How much of today and of this month is over, from 0 to 1. */
export interface Elapsed {
  readonly day: number;
  readonly month: number;
}

/** `hours`: since midnight where the gateway counts its days. */
export function elapsedAt(today: Day, hours: number): Elapsed {
  const day = Math.min(1, Math.max(0, hours / 24));
  const days = Number(lastOfMonth(today).slice(-2));
  return { day, month: (Number(today.slice(-2)) - 1 + day) / days };
}

export function lastOfMonth(day: Day): Day {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

export interface Forecast {
  /** `unknown`: too little of the period is over to tell. */
  readonly state: "fine" | "near" | "over" | "reached" | "unknown";
  /** Spent at the end of the period, when it goes on like this; null: unknown. */
  readonly atEnd: number | null;
}

/** With less of a period one dear answer would look like a disaster. */
const MIN_ELAPSED = 0.1;
const NEAR = 0.8;

export function forecastOf({ spent, max, period }: LimitState, elapsed: Elapsed): Forecast {
  if (spent >= max) return { state: "reached", atEnd: null };
  if (spent === 0) return { state: "fine", atEnd: 0 };
  const atEnd = spentAtEnd(spent, elapsed[period]);
  if (atEnd === null) return { state: "unknown", atEnd };
  if (atEnd >= max) return { state: "over", atEnd };
  return { state: atEnd >= max * NEAR ? "near" : "fine", atEnd };
}

/** `share`: how much of the period is over. Null: too little to tell. */
export function spentAtEnd(spent: number, share: number): number | null {
  return share < MIN_ELAPSED ? null : spent / share;
}
