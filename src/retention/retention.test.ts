/** Old rows go, in the background and a few at a time; a setting that changes counts from the next look on. */
import { expect, test } from "bun:test";
import type { DroppedRows } from "../contracts/store/retention.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitForEnd } from "../testing/wait-for.ts";
import { type Kind, startRetention } from "./retention.ts";

const PLACE = { at: 1, id: "x" };
const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

function world(answers: (number | Error)[]) {
  const clock = createFakeClock();
  const log = recordingLog();
  const asked: number[] = [];
  const settings = { days: 90 };
  const kind: Kind = {
    name: "letters",
    keepDays: () => settings.days,
    async drop({ before }) {
      asked.push(clock.now() - before);
      const answer = answers.shift() ?? 0;
      if (typeof answer !== "number") throw answer;
      return { dropped: answer, next: answer === 0 ? null : PLACE };
    },
  };
  const retention = startRetention({ clock, log }, [kind]);
  return { clock, log, asked, settings, retention };
}

test("a minute after the start, and every six hours, what is too old goes until nothing is left", async () => {
  const { clock, log, asked, settings, retention } = world([500, 500, 7]);
  await clock.advance(59_000);
  expect(asked).toEqual([]);
  await clock.advance(2_000);
  expect(asked.map((ms) => Math.floor(ms / DAY_MS))).toEqual([90, 90, 90, 90]);
  expect(log.lines.at(-1)?.fields).toEqual({ kind: "letters", rows: 1_007, keepDays: 90 });
  settings.days = 7;
  await clock.advance(6 * HOUR_MS + 1_000);
  expect(asked.slice(4)).toEqual([7 * DAY_MS]);
  await waitForEnd("the stop", Promise.resolve(retention[Symbol.asyncDispose]()));
  await clock.advance(24 * HOUR_MS);
  expect(asked.length).toBe(5);
});

test("batches have a pause between them, so that others come first", async () => {
  const { clock, asked, retention } = world([500, 500, 7]);
  const seen: number[] = [];
  for (const ms of [60_000, 49, 1, 49, 1, 50]) {
    await clock.advance(ms);
    seen.push(asked.length);
  }
  expect(seen).toEqual([1, 1, 2, 2, 3, 4]);
  await waitForEnd("the stop", Promise.resolve(retention[Symbol.asyncDispose]()));
});

test("nothing goes while everything is to be kept, and a store that fails is asked again at the next look", async () => {
  const { clock, log, asked, settings, retention } = world([new Error("full")]);
  settings.days = 0;
  await clock.advance(HOUR_MS);
  expect(asked).toEqual([]);
  settings.days = 1;
  await clock.advance(6 * HOUR_MS);
  expect([asked.length, log.lines.at(-1)?.words]).toEqual([1, "old rows could not be deleted"]);
  await clock.advance(6 * HOUR_MS);
  expect(asked.length).toBe(2);
  await waitForEnd("the stop", Promise.resolve(retention[Symbol.asyncDispose]()));
});

test.each([
  ["before the first look", 1_000],
  ["between two batches", 60_025],
  ["between two looks", HOUR_MS],
])("retention that is stopped %s ends at once and leaves no timer", async (_when, afterMs) => {
  const { clock, retention } = world([500, 500]);
  await clock.advance(afterMs);
  await waitForEnd("the stop", Promise.resolve(retention[Symbol.asyncDispose]()));
  expect(clock.pending()).toBe(0);
});

test("retention that is stopped waits for the batch that the store works on", async () => {
  const clock = createFakeClock();
  const batch = Promise.withResolvers<DroppedRows>();
  const kind: Kind = { name: "letters", keepDays: () => 90, drop: () => batch.promise };
  const retention = startRetention({ clock, log: recordingLog() }, [kind]);
  await clock.advance(60_000);
  let stopped = false;
  const stop = Promise.resolve(retention[Symbol.asyncDispose]()).then(() => (stopped = true));
  await clock.advance(0);
  expect(stopped).toBe(false);
  batch.resolve({ dropped: 0, next: null });
  await waitForEnd("the stop", stop);
});

test("a kind that fails does not keep the next one from its turn, and a step goes on where the last one ended", async () => {
  const clock = createFakeClock();
  const from: unknown[] = [];
  const fails: Kind = { name: "fails", keepDays: () => 1, drop: () => Promise.reject(new Error("broken")) };
  const works: Kind = {
    name: "works",
    keepDays: () => 1,
    async drop(rule) {
      from.push(rule.from);
      return { dropped: 1, next: from.length === 1 ? PLACE : null };
    },
  };
  const retention = startRetention({ clock, log: recordingLog() }, [fails, works]);
  await clock.advance(61_000);
  expect(from).toEqual([null, PLACE]);
  await waitForEnd("the stop", Promise.resolve(retention[Symbol.asyncDispose]()));
});
