import { expect, test } from "bun:test";
import { Refusal } from "./connection.ts";
import { ago, duration, took, whyNotSent } from "./error-text.ts";

const refusal = (code: string, message: string, retryAfterMs?: number) =>
  new Refusal(
    retryAfterMs === undefined ? { code, message, requestId: "r" } : { code, message, requestId: "r", retryAfterMs },
  );

test("a refused message says why and what to do", () => {
  expect([
    whyNotSent(refusal("queue_full", "x", 3_200)),
    whyNotSent(refusal("too_large", "The message has 9 characters; the limit is 8.")),
    whyNotSent(refusal("store_failed", "The gateway could not save this.")),
  ]).toEqual([
    "Too many messages are waiting. Try again in 4 seconds.",
    "The message has 9 characters; the limit is 8. Shorten it, or send it in parts.",
    "The gateway could not save this.",
  ]);
});

test("a long time is told in days, hours and minutes", () => {
  const minutes = (count: number) => duration(count * 60_000);
  expect([minutes(90), minutes(240), minutes(1_500), minutes(2_880)]).toEqual([
    "90 minutes",
    "4 hours",
    "1 day 1 hour",
    "2 days",
  ]);
});

test("times are short and never zero", () => {
  expect([duration(1), duration(59_001), duration(61_000), took(12.4), took(1_440), took(120_000)]).toEqual([
    "1 second",
    "1 minute",
    "2 minutes",
    "12 ms",
    "1.4 s",
    "2 min",
  ]);
  expect([ago(0, 20_000), ago(0, 120_000), ago(0, 7_200_000), ago(0, 172_800_000)]).toEqual([
    "now",
    "2 min",
    "2 h",
    "2 d",
  ]);
});
