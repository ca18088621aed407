import { expect, test } from "bun:test";
import { askedWaitMs, MAX_ASKED_MS } from "./retry-after.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const inSeconds = (seconds: number) => new Date(NOW + seconds * 1_000).toUTCString();

test.each<[string, number, Record<string, string>, number | null]>([
  ["seconds", 429, { "retry-after": "40" }, 40_000],
  ["part of a second", 503, { "retry-after": "0.25" }, 250],
  ["milliseconds", 429, { "retry-after-ms": "1500" }, 1_500],
  ["milliseconds before seconds", 429, { "retry-after-ms": "1500", "retry-after": "2" }, 1_500],
  ["a date", 429, { "retry-after": inSeconds(90) }, 90_000],
  ["a date by the provider's own clock", 429, { "retry-after": inSeconds(90), date: inSeconds(60) }, 30_000],
  ["a date that has passed", 429, { "retry-after": inSeconds(-5) }, null],
  ["nothing", 429, {}, null],
  ["a negative number", 429, { "retry-after": "-5" }, null],
  ["nought", 429, { "retry-after": "0" }, null],
  ["words", 429, { "retry-after": "soon" }, null],
  ["a year, which is no date", 429, { "retry-after": "2026-03-02" }, null],
  ["an absurd number", 429, { "retry-after": "9".repeat(400) }, MAX_ASKED_MS],
  ["a far date", 429, { "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, MAX_ASKED_MS],
  ["an answer that is no refusal", 200, { "retry-after": "40" }, null],
])("the time to wait is read from %s", (_what, status, headers, expected) => {
  expect(askedWaitMs({ status, headers: new Headers(headers) }, NOW)).toBe(expected);
});
