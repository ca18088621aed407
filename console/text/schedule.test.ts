import { expect, test } from "bun:test";
import { scheduleText, spanText, until } from "./schedule.ts";

test("a schedule is shown in the words of the gateway, or as it is written where there are none", () => {
  const schedule = { kind: "cron", expr: "*/7 * * * *" } as const;
  expect(scheduleText({ words: "every weekday at 09:00", schedule }, "UTC")).toBe("Every weekday at 09:00");
  expect(scheduleText({ words: null, schedule }, "UTC")).toBe("*/7 * * * *");
});

test("a zone that is not the person's own is named, where it matters", () => {
  const schedule = { kind: "cron", expr: "0 9 * * *", timezone: "Europe/Berlin" } as const;
  const words = "every day at 09:00";
  expect(scheduleText({ words, schedule }, "Europe/Berlin")).toBe("Every day at 09:00");
  expect(scheduleText({ words, schedule }, "Asia/Tokyo")).toBe("Every day at 09:00, Europe/Berlin time");
  expect(scheduleText({ words: "once", schedule: { ...schedule, kind: "at" } }, "Asia/Tokyo")).toBe("Once");
});

test("a length of time is written in the largest unit that is exact", () => {
  expect([600_000, 86_400_000, 5_400_000, 1_500, 30_000].map(spanText)).toEqual(["10m", "1d", "90m", "1500ms", "30s"]);
});

test("how long until then", () => {
  const all = [0, 20_000, 60_000, 59 * 60_000, 3 * 3_600_000, 5 * 86_400_000].map((ms) => until(ms, 0));
  expect(all).toEqual(["now", "in less than a minute", "in 1 min", "in 59 min", "in 3 h", "in 5 d"]);
});
