import { expect, test } from "bun:test";
import { scheduleText, until } from "./schedule.ts";

test.each([
  ["every", "30m", "Every 30 minutes"],
  ["every", "1h", "Every hour"],
  ["every", "1h30m", "Every 1 hour 30 minutes"],
  ["every", "2d", "Every 2 days"],
  ["at", "2026-01-01T00:00:00Z", "Once"],
  ["cron", "0 9 * * *", "Every day at 09:00"],
  ["cron", "30 7 * * 1-5", "Monday to Friday at 07:30"],
  ["cron", "0 18 * * 5", "Every Friday at 18:00"],
  ["cron", "0 8 * * 0,3,6", "Sunday, Wednesday and Saturday at 08:00"],
  ["cron", "*/5 * * * *", "Every 5 minutes"],
  ["cron", "* * * * *", "Every minute"],
  ["cron", "0 * * * *", "Every hour"],
  ["cron", "5 * * * *", "Every hour at 05 minutes past"],
  ["cron", "0 6 1 * *", "On day 1 of each month at 06:00"],
  ["cron", "0 6 1 * 1", "0 6 1 * 1"],
  ["cron", "0 9 * 1 *", "0 9 * 1 *"],
  ["cron", "0 9,12 * * *", "0 9,12 * * *"],
  ["cron", "0 0 9 * * *", "0 0 9 * * *"],
  ["cron", "99 9 * * *", "99 9 * * *"],
] as const)("%s %s: %s", (kind, expr, words) => {
  expect(scheduleText({ kind, expr }, "UTC")).toBe(words);
});

test("a zone that is not the person's own is named, where it matters", () => {
  const cron = { kind: "cron", expr: "0 9 * * *", timezone: "Europe/Berlin" } as const;
  expect(scheduleText(cron, "Europe/Berlin")).toBe("Every day at 09:00");
  expect(scheduleText(cron, "Asia/Tokyo")).toBe("Every day at 09:00, Europe/Berlin time");
});

test("how long until then", () => {
  const all = [0, 20_000, 60_000, 59 * 60_000, 3 * 3_600_000, 5 * 86_400_000].map((ms) => until(ms, 0));
  expect(all).toEqual(["now", "in less than a minute", "in 1 min", "in 59 min", "in 3 h", "in 5 d"]);
});
