/** Schedules in plain words, both ways: what is said is read back as the same schedule, and nothing is said in nearly the right words. */
import { expect, test } from "bun:test";
import { createCronReader } from "../cron.ts";
import { readWords } from "./read-words.ts";
import { sayWhen } from "./say-schedule.ts";

/** Both ways. */
const SAME: readonly (readonly ["cron" | "every", string, string])[] = [
  ["cron", "0 9 * * 1-5", "every weekday at 09:00"],
  ["cron", "30 7 * * *", "every day at 07:30"],
  ["cron", "0 10 * * 0,6", "every weekend day at 10:00"],
  ["cron", "0 18 * * 5", "every Friday at 18:00"],
  ["cron", "0 8 * * 1,3,5", "every Monday, Wednesday and Friday at 08:00"],
  ["cron", "0 8 * * 1-4", "every Monday to Thursday at 08:00"],
  ["cron", "0 8 * * 5-7", "every Friday to Sunday at 08:00"],
  ["cron", "0 9,17 * * 1-5", "every weekday at 09:00 and 17:00"],
  ["cron", "15 8,12,18 * * *", "every day at 08:15, 12:15 and 18:15"],
  ["cron", "0 6 1 * *", "on the 1st of every month at 06:00"],
  ["cron", "0 6 1,15 * *", "on the 1st and 15th of every month at 06:00"],
  ["cron", "0 6 22 * *", "on the 22nd of every month at 06:00"],
  ["cron", "0 6 L * *", "on the last day of every month at 06:00"],
  ["cron", "0 18 24 12 *", "every year on 24 December at 18:00"],
  ["cron", "* * * * *", "every minute on the clock"],
  ["cron", "*/5 * * * *", "every 5 minutes on the clock"],
  ["cron", "0 * * * *", "every hour on the hour"],
  ["cron", "5 * * * *", "every hour at 5 minutes past"],
  ["cron", "1 * * * *", "every hour at 1 minute past"],
  ["cron", "0 */6 * * *", "every 6 hours on the hour"],
  ["cron", "30 */2 * * *", "every 2 hours at 30 minutes past"],
  ["every", "30m", "every 30 minutes"],
  ["every", "1h", "every hour"],
  ["every", "90m", "every 90 minutes"],
  ["every", "2d", "every 2 days"],
];

test.each(SAME)("%s %s is said as %s, and read back", (kind, expr, words) => {
  expect(sayWhen({ kind, expr })).toBe(words);
  expect(readWords(words)).toEqual({ kind: "read", schedule: { kind, expr } });
  if (kind === "cron") expect(createCronReader().read(expr, "UTC").ok).toBe(true);
});

test.each([
  ["every weekday at 9", "0 9 * * 1-5"],
  ["Every  Weekday at 9.", "0 9 * * 1-5"],
  ["weekdays at 9am", "0 9 * * 1-5"],
  ["at 9 on weekdays", "0 9 * * 1-5"],
  ["at 9:30 every day", "30 9 * * *"],
  ["daily at noon", "0 12 * * *"],
  ["every day at midnight", "0 0 * * *"],
  ["every evening at 8", "0 20 * * *"],
  ["every morning at 8", "0 8 * * *"],
  ["every friday 17:30", "30 17 * * 5"],
  ["fridays at 5pm", "0 17 * * 5"],
  ["weekly on friday at 5 pm", "0 17 * * 5"],
  ["every mon-fri at 12am", "0 0 * * 1-5"],
  ["every tue and thurs at 7", "0 7 * * 2,4"],
  ["every saturday to monday at 7", "0 7 * * 6,0,1"],
  ["every month on the 3rd at 7", "0 7 3 * *"],
  ["monthly on the last day at 7", "0 7 L * *"],
  ["on day 15 of every month at 7:05", "5 7 15 * *"],
  ["every year on december 24 at 6pm", "0 18 24 12 *"],
  ["hourly", "0 * * * *"],
])("%s is read as %s", (words, expr) => {
  expect(readWords(words)).toEqual({ kind: "read", schedule: { kind: "cron", expr } });
});

test.each([
  ["0 9 * * MON-FRI", "every weekday at 09:00"],
  ["0 0 9 * * *", "every day at 09:00"],
  ["0 9 ? * 7", "every Sunday at 09:00"],
  ["@daily", "every day at 00:00"],
  ["0 9 * * 6-7", "every weekend day at 09:00"],
])("the cron expression %s is said as %s", (expr, words) => {
  expect(sayWhen({ kind: "cron", expr })).toBe(words);
});

test("an interval of two units is said with both, and one that is no interval is not said", () => {
  expect(sayWhen({ kind: "every", expr: "1h30m" })).toBe("every 1 hour 30 minutes");
  expect(readWords("every 1 hour 30 minutes")).toMatchObject({ schedule: { kind: "every", expr: "90m" } });
  expect([sayWhen({ kind: "every", expr: "soon" }), sayWhen({ kind: "at", expr: "2026-05-01" })]).toEqual([
    null,
    "once",
  ]);
});

test.each([
  ["a day of the month or of the week", "0 6 1 * 1"],
  ["one month", "0 9 * 1 *"],
  ["minutes that do not divide the hour", "*/7 * * * *"],
  ["hours that do not divide the day", "0 */5 * * *"],
  ["seconds", "30 0 9 * * *"],
  ["several minutes", "0,20 9 * * *"],
  ["a range of hours", "*/15 9-17 * * 1-5"],
  ["the second Friday", "0 9 * * 5#2"],
  ["no such minute", "99 9 * * *"],
  ["too few fields", "0 9 * *"],
  ["no such day", "0 9 0 * *"],
])("a cron expression with %s cannot be said in plain words", (_what, expr) => {
  expect(sayWhen({ kind: "cron", expr })).toBeNull();
});

test.each([
  ["every weekday", "Say at what time"],
  ["every day at 25:00", "is not a time of day"],
  ["every day at 9:00 and 17:30", "different minutes"],
  ["every other day at 9", "cannot be planned in plain words"],
  ["every 2 days at 9", "cannot be planned in plain words"],
  ["on the 32nd of every month at 9", "cannot be planned in plain words"],
  ["every 7 minutes on the clock", "does not come out even"],
])("%s is answered with what to write instead", (words, because) => {
  const reading = readWords(words);
  expect(reading.kind === "unclear" ? reading.problem : reading.kind).toContain(because);
});

test.each(["tomorrow at 9", "in 20 minutes", "2026-05-01T09:00:00Z", "", "friday 17:00"])(
  "%p names no repeated time",
  (words) => expect(readWords(words)).toEqual({ kind: "not-repeated" }),
);
