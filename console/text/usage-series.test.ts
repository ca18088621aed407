import { expect, test } from "bun:test";
import type { LimitState } from "../../src/contracts/budget.ts";
import { type Series, topOf } from "./chart-series.ts";
import { elapsedAt, everyDay } from "./usage-days.ts";
import { seriesOf } from "./usage-series.ts";

const item = (key: string, costUsd: number) => ({
  key,
  turns: 1,
  inputTokens: 7,
  cachedTokens: 0,
  outputTokens: 3,
  costUsd,
});
const DAYS = everyDay("2026-06-01", "2026-06-15", [item("2026-06-02", 2), item("2026-06-15", 3)]);
const limit = (name: string, max: number): LimitState => ({
  limit: name,
  period: name.includes("daily") ? "day" : "month",
  unit: name.endsWith("Usd") ? "usd" : "tokens",
  spent: 0,
  max,
  unattendedMax: max,
});
const LIMITS = [limit("agents.papers.dailyUsd", 1), limit("dailyUsd", 4), limit("monthlyUsd", 12)];
const asked = { measure: "costUsd", name: "Cost", limits: LIMITS, elapsed: elapsedAt("2026-06-15", 24) } as const;
const lookOf = (series: readonly Series[]) => series.map(({ name, look }) => [name, look]);

test("usage day by day has a bar for each day, and the daily limit of the whole gateway", () => {
  const { days, series } = seriesOf(DAYS, { ...asked, shape: "daily" });
  expect([days.length, days[0], days.at(-1)]).toEqual([15, "2026-06-01", "2026-06-15"]);
  expect(lookOf(series)).toEqual([
    ["Cost", "bars"],
    ["Limit of a day", "limit"],
  ]);
  expect(series[0]?.values.slice(0, 3)).toEqual([0, 2, 0]);
  expect(series[1]?.values).toEqual(Array.from({ length: 15 }, () => 4));
  const [tokens, ...none] = seriesOf(DAYS, { ...asked, shape: "daily", measure: "tokens" }).series;
  expect([tokens?.values[1], none]).toEqual([10, []]); // a limit in dollars is none of tokens
});

test("usage added up goes on to the end of the month as a forecast, below the monthly limit", () => {
  const { days, series } = seriesOf(DAYS, { ...asked, shape: "sum" });
  expect([days.length, days.at(-1)]).toEqual([30, "2026-06-30"]);
  expect(lookOf(series)).toEqual([
    ["Cost so far", "area"],
    ["Forecast", "forecast"],
    ["Limit of the month", "limit"],
  ]);
  const [used, forecast, max] = series;
  expect([used?.values[1], used?.values[14], used?.values[15]]).toEqual([2, 5, null]);
  expect([forecast?.values[13], forecast?.values[14], forecast?.values[29]]).toEqual([null, 5, 10]);
  expect([max?.values.length, max?.values[29]]).toEqual([30, 12]);
});

test("days that are over, and a month that has only begun, have no forecast", () => {
  const over = seriesOf(DAYS, { ...asked, shape: "sum", elapsed: null });
  expect([over.days.length, lookOf(over.series)]).toEqual([15, [["Cost so far", "area"]]]);
  const begun = seriesOf(DAYS.slice(0, 2), { ...asked, shape: "sum", elapsed: elapsedAt("2026-06-02", 3) });
  expect(lookOf(begun.series)).toEqual([
    ["Cost so far", "area"],
    ["Limit of the month", "limit"],
  ]);
});

test("a chart makes room for a limit that is near, and not for one that would press everything flat", () => {
  const used: Series = { name: "Cost", look: "bars", values: [1, null, 2] };
  const near: Series = { name: "Limit", look: "limit", values: [6, 6, 6] };
  expect([topOf([used]), topOf([used, near]), topOf([used, { ...near, values: [7] }]), topOf([])]).toEqual([
    2, 6, 2, 0,
  ]);
});
