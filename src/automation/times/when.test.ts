/** Moments as people say them, in a zone that is not the machine's. */
import { describe, expect, test } from "bun:test";
import { readSpan } from "./relative.ts";
import { readWhen } from "./when.ts";

/** A Wednesday, 14:30 in Berlin. */
const NOW = Date.parse("2026-05-06T12:30:00Z");
const context = { now: NOW, timezone: "Europe/Berlin" };
const read = (text: string) => {
  const reading = readWhen(text, context);
  return reading.kind === "moment" ? new Date(reading.at).toISOString() : reading;
};

describe("a moment", () => {
  test.each([
    ["18:00", "2026-05-06T16:00:00.000Z"],
    ["at 18:00", "2026-05-06T16:00:00.000Z"],
    ["9:15", "2026-05-07T07:15:00.000Z"], // passed today
    ["6pm", "2026-05-06T16:00:00.000Z"],
    ["12am", "2026-05-06T22:00:00.000Z"],
    ["12:30 pm", "2026-05-07T10:30:00.000Z"],
    ["noon", "2026-05-07T10:00:00.000Z"],
    ["midnight", "2026-05-06T22:00:00.000Z"],
    ["tomorrow 9am", "2026-05-07T07:00:00.000Z"],
    ["Tomorrow at 9 AM", "2026-05-07T07:00:00.000Z"],
    ["9am tomorrow", "2026-05-07T07:00:00.000Z"],
    ["today 23:59:30", "2026-05-06T21:59:30.000Z"],
    ["the day after tomorrow at noon", "2026-05-08T10:00:00.000Z"],
    ["friday 17:00", "2026-05-08T15:00:00.000Z"],
    ["on Wed at 15:00", "2026-05-06T13:00:00.000Z"],
    ["wednesday 9am", "2026-05-13T07:00:00.000Z"], // passed today
    ["2026-12-24 18:00", "2026-12-24T17:00:00.000Z"], // winter time by then
    ["1h30m", "2026-05-06T14:00:00.000Z"],
    ["in half an hour", "2026-05-06T13:00:00.000Z"],
    ["in an hour and a half", "2026-05-06T14:00:00.000Z"],
    ["in 2 hours and 5 minutes", "2026-05-06T14:35:00.000Z"],
    ["in a quarter of an hour", "2026-05-06T12:45:00.000Z"],
    ["in 20m", "2026-05-06T12:50:00.000Z"],
    ["in 2 weeks", "2026-05-20T12:30:00.000Z"],
  ])("%s is %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("that a clock change skips is the first one after it, and one that comes twice is the first", () => {
    const at = (text: string, day: string) => {
      const reading = readWhen(text, { now: Date.parse(`${day}T12:00:00Z`), timezone: "Europe/Berlin" });
      return reading.kind === "moment" && new Date(reading.at).toISOString();
    };
    expect(at("tomorrow 02:30", "2026-03-28")).toBe("2026-03-29T01:00:00.000Z");
    expect(at("tomorrow 02:30", "2026-10-24")).toBe("2026-10-25T00:30:00.000Z");
  });

  test.each([
    ["9", "9am, 9pm or 09:00"],
    ["at 9", "morning or in the evening"],
    ["tomorrow at 9", "morning or in the evening"],
    ["03/04 9am", "two dates"],
    ["3.4. 18:00", "two dates"],
    ["next friday 9am", "this week's or next week's"],
    ["tomorrow midnight", "two midnights"],
    ["today 9am", "has passed already"],
    ["25:00", "There is no 25:00"],
    ["13pm", "There is no 13pm"],
    ["2026-02-30 9am", "no such day"],
    ["soonish", "is not a moment"],
    ["30m 1h", "is not a moment"],
    ["", "is not a moment"],
    ["x".repeat(500), "is not a moment"],
  ])("is not read from %s: %s", (text, words) => {
    expect(read(text)).toMatchObject({ kind: "unclear", problem: expect.stringContaining(words) });
  });

  test("needs a time of day; a day alone is a day", () => {
    expect(read("tomorrow")).toMatchObject({ kind: "day", date: "2026-05-07" });
    expect(read("sunday")).toMatchObject({ kind: "day", date: "2026-05-10", problem: expect.stringContaining("9am") });
  });
});

test.each([
  ["30m", 1_800_000],
  ["1h30m", 5_400_000],
  ["1.5h", 5_400_000],
  ["90 minutes", 5_400_000],
  ["1 hour, 30 minutes", 5_400_000],
  ["one day", 86_400_000],
  ["half a day", 43_200_000],
  ["5ms", 5],
  ["m", null],
  ["5 apples", null],
  ["1h and", null],
  ["0m", null],
])("a length of time written %s is %p milliseconds", (text, ms) => {
  expect(readSpan(text)).toBe(ms);
});
