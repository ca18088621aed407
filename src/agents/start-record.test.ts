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
