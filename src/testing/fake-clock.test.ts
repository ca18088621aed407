import { expect, test } from "bun:test";
import { systemClock } from "../kit/clock.ts";
import { clockContract } from "./contracts/clock-contract.ts";
import { createFakeClock } from "./fake-clock.ts";

const never = new AbortController().signal;

clockContract("the fake clock", () => {
  const clock = createFakeClock();
  return { clock, pass: (ms) => clock.advance(ms) };
});

clockContract("the system clock", () => ({ clock: systemClock, pass: (ms) => systemClock.sleep(ms, never) }));

test("time stands still until it is moved", async () => {
  const clock = createFakeClock(5_000);
  await clock.advance(0);
  expect([clock.now(), clock.elapsed()]).toEqual([5_000, 0]);
});

test("a timer that falls due sees the moment it was due, and timers that it starts run in the same advance", async () => {
  const clock = createFakeClock(0);
  const seen: number[] = [];
  const loop = async () => {
    for (let round = 0; round < 3; round++) {
      await clock.sleep(10, never);
      seen.push(clock.now());
    }
  };
  const running = loop();
  await clock.advance(1_000);
  await running;
  expect(seen).toEqual([10, 20, 30]);
  expect(clock.now()).toBe(1_000);
});

test("pending counts sleeps and deadlines that still wait", async () => {
  const clock = createFakeClock();
  const sleeping = clock.sleep(10, never);
  const limit = clock.deadline(20, () => new Error("time is up"));
  expect(clock.pending()).toBe(2);
  await clock.advance(10);
  await sleeping;
  expect(clock.pending()).toBe(1);
  limit[Symbol.dispose]();
  expect(clock.pending()).toBe(0);
});
