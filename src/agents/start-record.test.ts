import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createStartRecord } from "./start-record.ts";

const never = new AbortController().signal;

test("who asks to be called when starts are allowed again is called, also when the time came just before the asking", async () => {
  const clock = createFakeClock();
  const record = createStartRecord(clock);
  record.failed(new Error("exit 3"));
  expect(record.mayStart()).toBe(false);
  await clock.advance(250); // between the look above and the asking below
  let called = 0;
  record.whenAllowed(() => called++, never);
  await clock.advance(100);
  expect(called).toBe(1);
});

test("pauses between failing starts grow, and after three of them waiting makes no sense", async () => {
  const clock = createFakeClock();
  const record = createStartRecord(clock);
  const pauses: number[] = [];
  for (let n = 0; n < 3; n++) {
    expect(record.hopeless()).toBeNull();
    record.failed(new Error("exit 3"));
    let waited = 0;
    for (; !record.mayStart(); waited += 50) await clock.advance(50);
    pauses.push(waited);
  }
  expect(pauses).toEqual([250, 500, 1_000]);
  expect(record.hopeless()?.code).toBe("agent_unavailable");
  record.succeeded();
  expect([record.hopeless(), record.trouble()]).toEqual([null, null]);
});

test("processes that die soon after their start, again and again, are a trouble with growing pauses, until one has worked or lived", async () => {
  const clock = createFakeClock();
  const record = createStartRecord(clock);
  const pauses: number[] = [];
  const dies = async () => {
    record.succeeded();
    record.diedResting(50);
    let waited = 0;
    for (; !record.mayStart(); waited += 50) await clock.advance(50);
    pauses.push(waited);
  };
  await dies();
  await dies();
  expect(record.trouble()).toBeNull(); // an accident, and another one
  await dies();
  expect(pauses).toEqual([250, 500, 1_000]);
  expect(record.trouble()).toContain("end by themselves soon after their start");
  expect([record.succeeded(), record.hopeless()]).toEqual([true, null]); // told again, and worth waiting
  record.worked();
  expect(record.trouble()).toBeNull();

  for (let n = 0; n < 3; n++) await dies();
  expect(record.trouble()).not.toBeNull();
  await clock.advance(60_000);
  expect(record.trouble()).toBeNull();
  record.diedResting(20_000); // at a good age
  expect(record.trouble()).toBeNull();
});
