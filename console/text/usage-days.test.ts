import { expect, test } from "bun:test";
import type { LimitState } from "../../src/contracts/budget.ts";
import { elapsedAt, everyDay, forecastOf, type Period, spanOf } from "./usage-days.ts";

test("a period is the days it says, also across months and years", () => {
  const cases: readonly (readonly [Period, string, string, string])[] = [
    ["month", "2026-03-09", "2026-03-01", "2026-03-09"],
    ["lastMonth", "2026-03-09", "2026-02-01", "2026-02-28"],
    ["lastMonth", "2026-01-31", "2025-12-01", "2025-12-31"],
    ["week", "2026-03-03", "2026-02-25", "2026-03-03"],
    ["days30", "2024-03-01", "2024-02-01", "2024-03-01"],
  ];
  for (const [period, today, from, to] of cases)
    expect([period, spanOf(period, today)]).toEqual([period, { from, to }]);
});

test("days without use are there with nothing", () => {
  const item = { key: "2026-02-28", turns: 2, inputTokens: 10, cachedTokens: 4, outputTokens: 5, costUsd: 0.5 };
  expect(everyDay("2026-02-27", "2026-03-01", [item])).toEqual([
    { day: "2026-02-27", costUsd: 0, tokens: 0, turns: 0 },
    { day: "2026-02-28", costUsd: 0.5, tokens: 15, turns: 2 },
    { day: "2026-03-01", costUsd: 0, tokens: 0, turns: 0 },
  ]);
});

test("a budget is forecast from what was spent in the part of its period that is over", () => {
  const limit = (spent: number, period: LimitState["period"] = "month"): LimitState => ({
    limit: "monthlyUsd",
    period,
    unit: "usd",
    spent,
    max: 100,
    unattendedMax: 100,
  });
  const half = elapsedAt("2026-06-15", 24); // half of June
  expect(half).toEqual({ day: 1, month: 0.5 });
  const cases = [
    [limit(0), half, "fine", 0],
    [limit(20), half, "fine", 40],
    [limit(41), half, "near", 82],
    [limit(50), half, "over", 100],
    [limit(100), half, "reached", null],
    [limit(5), elapsedAt("2026-06-01", 23), "unknown", null],
    [limit(30, "day"), elapsedAt("2026-06-15", 12), "fine", 60],
    [limit(30, "day"), elapsedAt("2026-06-15", 1), "unknown", null],
  ] as const;
  for (const [state, elapsed, expected, atEnd] of cases)
    expect([state.spent, forecastOf(state, elapsed)]).toEqual([state.spent, { state: expected, atEnd }]);
});
