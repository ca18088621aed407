import { describe, expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createFailureLimiter } from "./failure-limiter.ts";

const key = (name: string) => [{ name, failuresPerMinute: 10 }];
const failTimes = (limiter: ReturnType<typeof createFailureLimiter>, name: string, times: number) => {
  for (let at = 0; at < times; at++) limiter.fail(key(name));
};

describe("failed attempts", () => {
  test("nine in a minute are forgiven and the tenth locks for a second", () => {
    const limiter = createFailureLimiter(createFakeClock());
    failTimes(limiter, "a", 9);
    expect(limiter.lockedForMs(key("a"))).toBe(0);
    limiter.fail(key("a"));
    expect(limiter.lockedForMs(key("a"))).toBe(1_000);
  });

  test("spread over more than a minute never lock", async () => {
    const clock = createFakeClock();
    const limiter = createFailureLimiter(clock);
    for (let at = 0; at < 50; at++) {
      limiter.fail(key("a"));
      await clock.advance(7_000);
    }
    expect(limiter.lockedForMs(key("a"))).toBe(0);
  });

  test("after a lock double it every time, up to fifteen minutes", async () => {
    const clock = createFakeClock();
    const limiter = createFailureLimiter(clock);
    failTimes(limiter, "a", 9);
    const locks: number[] = [];
    for (let at = 0; at < 12; at++) {
      limiter.fail(key("a"));
      locks.push(limiter.lockedForMs(key("a")));
      await clock.advance(locks.at(-1) ?? 0);
    }
    expect(locks.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  test("are forgotten a quarter of an hour after the lock ended", async () => {
    const clock = createFakeClock();
    const limiter = createFailureLimiter(clock);
    failTimes(limiter, "a", 10);
    await clock.advance(16 * 60_000);
    failTimes(limiter, "a", 9);
    expect(limiter.lockedForMs(key("a"))).toBe(0);
  });

  test("of one client do not lock another", () => {
    const limiter = createFailureLimiter(createFakeClock());
    failTimes(limiter, "a", 10);
    expect(limiter.lockedForMs(key("b"))).toBe(0);
  });

  test("of very many clients are kept for the ten thousand most recent only", () => {
    const limiter = createFailureLimiter(createFakeClock());
    failTimes(limiter, "first", 10);
    for (let at = 0; at < 10_000; at++) limiter.fail(key(`client-${at}`));
    expect(limiter.lockedForMs(key("first"))).toBe(0);
  });
});
