/** What every Clock promises, run against the real one and the fake one, so that tests on the fake mean something. */
import { describe, expect, test } from "bun:test";
import type { Clock } from "../../kit/clock.ts";

interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets at least `ms` of this clock's time go by. */
  pass(ms: number): Promise<void>;
}

const never = new AbortController().signal;

export function clockContract(name: string, make: () => ClockUnderTest): void {
  describe(name, () => {
    test("now and elapsed move forward together", async () => {
      const { clock, pass } = make();
      const [now, elapsed] = [clock.now(), clock.elapsed()];
      await pass(5);
      expect(clock.now() - now).toBeGreaterThanOrEqual(4); // whole milliseconds: the first one may be partly over
      expect(clock.elapsed() - elapsed).toBeGreaterThanOrEqual(4);
    });

    test("a sleep ends after its time", async () => {
      const { clock, pass } = make();
      const before = clock.elapsed();
      const sleeping = clock.sleep(3, never).then(() => clock.elapsed() - before);
      await pass(10);
      expect(await sleeping).toBeGreaterThanOrEqual(2.5); // timers may round down a little
    });

    test("shorter sleeps end first", async () => {
      const { clock, pass } = make();
      const order: string[] = [];
      const all = Promise.all([
        clock.sleep(12, never).then(() => order.push("long")),
        clock.sleep(2, never).then(() => order.push("short")),
      ]);
      await pass(30);
      await all;
      expect(order).toEqual(["short", "long"]);
    });

    test("an aborted sleep rejects with the signal's reason at once", async () => {
      const { clock } = make();
      const controller = new AbortController();
      const sleeping = clock.sleep(60_000, controller.signal);
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await sleeping.catch((error: unknown) => error)).toBe(reason);
    });

    test("a sleep on a signal that is aborted already does not begin", async () => {
      const { clock } = make();
      const reason = new Error("too late");
      expect(await clock.sleep(60_000, AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
    });

    test("a deadline aborts its signal with its reason", async () => {
      const { clock, pass } = make();
      const reason = new Error("time is up");
      using limit = clock.deadline(2, () => reason);
      const aborted = new Promise((resolve) => limit.signal.addEventListener("abort", resolve, { once: true }));
      await pass(10);
      await aborted;
      expect(limit.signal.reason).toBe(reason);
    });

    test("a disposed deadline never aborts", async () => {
      const { clock, pass } = make();
      const limit = clock.deadline(2, () => new Error("time is up"));
      limit[Symbol.dispose]();
      await pass(10);
      expect(limit.signal.aborted).toBe(false);
    });
  });
}
