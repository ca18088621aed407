/** Days of the usage ledger as the lines of a chart: day by day or added up, with the limit for the whole gateway and where it goes. Pure. */
import type { LimitState } from "../../src/contracts/budget.ts";
import type { Series, SeriesOfDays } from "./chart-series.ts";
import { type DaySum, type Elapsed, everyDay, lastOfMonth, spentAtEnd } from "./usage-days.ts";

export type Measure = "costUsd" | "tokens" | "turns";

export const SHAPES = { daily: "Day by day", sum: "Added up" } as const;
export type Shape = keyof typeof SHAPES;

interface Asked {
  readonly measure: Measure;
  /** Of the measure, for people. */
  readonly name: string;
  readonly shape: Shape;
  readonly limits: readonly LimitState[];
  /** Null: the days are not those of this month up to now, and nothing is to come. */
  readonly elapsed: Elapsed | null;
}

export function seriesOf(days: readonly DaySum[], asked: Asked): SeriesOfDays {
  return asked.shape === "daily" ? dailySeries(days, asked) : sumSeries(days, asked);
}

function dailySeries(days: readonly DaySum[], { measure, name, limits }: Asked): SeriesOfDays {
  const used: Series = { name, look: "bars", values: days.map((day) => day[measure]) };
  const limit = limitOf(limits, measure, "day");
  return {
    days: days.map(({ day }) => day),
    series: limit === null ? [used] : [used, limitSeries("Limit of a day", limit, days.length)],
  };
}

function sumSeries(days: readonly DaySum[], { measure, name, limits, elapsed }: Asked): SeriesOfDays {
  let sum = 0;
  const sums = days.map((day) => (sum += day[measure]));
  const [first, last] = [days[0], days.at(-1)];
  const used = { name: `${name} so far`, look: "area" } as const;
  if (first === undefined || last === undefined || elapsed === null)
    return { days: days.map(({ day }) => day), series: [{ ...used, values: sums }] };
  const all = everyDay(first.day, lastOfMonth(last.day), []).map(({ day }) => day);
  const rest = all.length - sums.length;
  const series: Series[] = [{ ...used, values: [...sums, ...nothing(rest)] }];
  const atEnd = spentAtEnd(sum, elapsed.month);
  if (atEnd !== null && rest > 0) {
    const values = Array.from({ length: rest }, (_, index) => sum + ((atEnd - sum) * (index + 1)) / rest);
    series.push({ name: "Forecast", look: "forecast", values: [...nothing(sums.length - 1), sum, ...values] });
  }
  const limit = limitOf(limits, measure, "month");
  if (limit !== null) series.push(limitSeries("Limit of the month", limit, all.length));
  return { days: all, series };
}

/** Of the whole gateway; one for an agent, an origin or a person says nothing about the sum of all. */
const LIMITS: Readonly<Partial<Record<Measure, Readonly<Record<LimitState["period"], string>>>>> = {
  costUsd: { day: "dailyUsd", month: "monthlyUsd" },
  tokens: { day: "dailyTokens", month: "monthlyTokens" },
};

function limitOf(limits: readonly LimitState[], measure: Measure, period: LimitState["period"]): number | null {
  return limits.find(({ limit }) => limit === LIMITS[measure]?.[period])?.max ?? null;
}

function limitSeries(name: string, limit: number, count: number): Series {
  return { name, look: "limit", values: Array.from({ length: count }, () => limit) };
}

function nothing(count: number): readonly null[] {
  return Array.from({ length: count }, () => null);
}
