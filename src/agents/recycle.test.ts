/** The decision whether a process is used again, as a table. */
import { expect, test } from "bun:test";
import { type RecycleFacts, type Recycling, shouldRecycle } from "./recycle.ts";

const MB = 1_048_576;
const limits = { maxSwitches: 3, maxAgeMs: 1_000, maxRssMb: 400 };
const fine: RecycleFacts = { trusted: true, switches: 1, ageMs: 10, rssBytes: 90 * MB, isMemoryScarce: () => true };

const cases: readonly [string, Partial<RecycleFacts>, Recycling["because"]][] = [
  ["a process within all limits goes on", {}, "fit"],
  ["one that left doubt is replaced", { trusted: false }, "not_trusted"],
  ["doubt comes before every other reason", { trusted: false, switches: 9, ageMs: 9_999 }, "not_trusted"],
  ["one session below the limit goes on", { switches: 2 }, "fit"],
  ["the last session it may serve replaces it", { switches: 3 }, "many_sessions"],
  ["a moment before its age it goes on", { ageMs: 999 }, "fit"],
  ["at its age it is replaced", { ageMs: 1_000 }, "too_old"],
  ["exactly at the size limit it goes on", { rssBytes: 400 * MB }, "fit"],
  ["above the size limit it is replaced where memory is scarce", { rssBytes: 400 * MB + 1 }, "too_large"],
  ["while memory is free, a large one goes on", { rssBytes: 4_000 * MB, isMemoryScarce: () => false }, "fit"],
  ["where the size is not known it does not count", { rssBytes: null }, "fit"],
];

test("the memory of the machine is not asked for a process within its limit", () => {
  let asked = 0;
  shouldRecycle({ ...fine, isMemoryScarce: () => ++asked > 0 }, limits);
  expect(asked).toBe(0);
});

test.each(cases)("%s", (_name, changes, because) => {
  expect(shouldRecycle({ ...fine, ...changes }, limits)).toEqual({
    recycle: because !== "fit",
    because,
  } as Recycling);
});
