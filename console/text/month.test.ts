import { expect, test } from "bun:test";
import { localDate, monthOf, shifted, shownDays, weeksOf } from "./month.ts";

test("a month is shown in whole weeks from Monday on", () => {
  expect(shownDays({ year: 2026, month: 11 })).toEqual({ from: "2026-10-26", days: 42 }); // begins on a Sunday
  expect(shownDays({ year: 2027, month: 2 })).toEqual({ from: "2027-02-01", days: 28 });
  expect(shownDays({ year: 2028, month: 2 })).toEqual({ from: "2028-01-31", days: 35 });
});

test("months follow each other over the end of a year", () => {
  expect([shifted({ year: 2026, month: 12 }, 1), shifted({ year: 2026, month: 1 }, -1)]).toEqual([
    { year: 2027, month: 1 },
    { year: 2025, month: 12 },
  ]);
});

test("each day has its runs, and says whether it is of the month", () => {
  const run = { jobId: "tea", at: 1 };
  const calendar = { days: [{ date: "2026-11-16", runs: [run] }], frequent: [], isPartial: false };
  const weeks = weeksOf({ year: 2026, month: 11 }, calendar);
  expect(weeks.map((week) => week.length)).toEqual([7, 7, 7, 7, 7, 7]);
  expect(weeks[0]?.[0]).toEqual({ date: "2026-10-26", day: 26, isInMonth: false, runs: [] });
  expect(weeks.flat().filter(({ runs }) => runs.length > 0)).toEqual([
    { date: "2026-11-16", day: 16, isInMonth: true, runs: [run] },
  ]);
  expect(weeksOf({ year: 2026, month: 11 }, null).flat()).toHaveLength(42);
});

test("a date is that of the person's own clock", () => {
  const late = new Date(2026, 10, 16, 23, 59);
  expect([localDate(late), monthOf(late)]).toEqual(["2026-11-16", { year: 2026, month: 11 }]);
});
