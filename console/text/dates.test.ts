/** Dates and times as the person's own place writes them. */
import { afterEach, expect, test } from "bun:test";
import { dateText, ownZone } from "./dates.ts";

const AT = Date.UTC(2026, 10, 16, 21, 5, 9);
const before = process.env["TZ"];
const setZone = (zone: string | undefined) => {
  process.env["TZ"] = zone ?? "UTC";
};
afterEach(() => setZone(before));

test("a date is written in every shape as the browser itself writes it", () => {
  setZone("Asia/Tokyo");
  const when = new Date(AT);
  expect(dateText(AT, "whole")).toBe(when.toLocaleString());
  expect(dateText(AT, "second")).toBe(when.toLocaleTimeString());
  expect(dateText(AT, "time")).toBe(when.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" }));
  expect(dateText(AT, "day")).toBe(when.toLocaleDateString(undefined, { day: "numeric", month: "short" }));
  expect(dateText(AT, "dayAndYear")).toContain("2026");
  expect(dateText(AT, "month")).toBe(when.toLocaleDateString(undefined, { month: "long", year: "numeric" }));
  expect([dateText(AT, "weekday"), dateText(AT, "longWeekday")]).toEqual(["Mon", "Monday"]); // in UTC, not in Tokyo
  expect(dateText(AT, "longDay")).toContain("16");
});

test("a clock that moves to another time zone gets its times at once", () => {
  setZone("Asia/Tokyo");
  expect([dateText(AT, "time"), ownZone()]).toEqual(["06:05 AM", "Asia/Tokyo"]);
  setZone("Europe/Berlin");
  expect([dateText(AT, "time"), ownZone()]).toEqual(["10:05 PM", "Europe/Berlin"]);
});

test("a thousand dates are written without making a format again", () => {
  dateText(AT, "moment");
  const counted = countFormats(() => {
    for (let at = 0; at < 1_000; at++) dateText(AT + at * 60_000, "moment");
  });
  expect(counted).toBe(0);
});

/** How many formats were made meanwhile: each costs as much as hundreds of dates. */
function countFormats(run: () => void): number {
  const real = Intl.DateTimeFormat;
  let made = 0;
  Intl.DateTimeFormat = new Proxy(real, {
    construct(target, args) {
      made++;
      return new target(...(args as []));
    },
  });
  try {
    run();
  } finally {
    Intl.DateTimeFormat = real;
  }
  return made;
}
