import { describe, expect, test } from "bun:test";
import { unhandledIn } from "../testing/unhandled.ts";
import { deferred, lazy, orAborted } from "./deferred.ts";

describe("a lazy value", () => {
  test("is loaded at first use, once, also for callers at the same time", async () => {
    let loads = 0;
    const value = lazy(async () => ++loads);
    expect(loads).toBe(0);
    expect(await Promise.all([value(), value()])).toEqual([1, 1]);
    expect([await value(), loads]).toEqual([1, 1]);
  });

  test("whose load failed is loaded again by the next caller", async () => {
    let loads = 0;
    const value = lazy(async () => {
      if (++loads <= 2) throw new Error(`failure ${loads}`);
      return "loaded";
    });
    const both = await Promise.allSettled([value(), value()]);
    expect(both.map((one) => one.status === "rejected" && String(one.reason))).toEqual([
      "Error: failure 1",
      "Error: failure 1",
    ]);
    await expect(value()).rejects.toThrow("failure 2");
    expect([await value(), await value(), loads]).toEqual(["loaded", "loaded", 3]);
  });
});

test("a deferred result that fails while nobody waits for it is not an unhandled failure, and who asks later still sees it", async () => {
  const result = deferred<void>();
  expect(await unhandledIn(async () => result.reject(new Error("late")))).toEqual([]);
  await expect(result.promise).rejects.toThrow("late");
});

describe("a wait with an end by a signal", () => {
  test("that has ended before it began leaves no failure behind that nobody handles", async () => {
    const unhandled = await unhandledIn(async () => {
      const work = Promise.withResolvers<void>();
      await expect(orAborted(work.promise, AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
      work.reject(new Error("late"));
    });
    expect(unhandled).toEqual([]);
  });

  test.each(["resolves", "rejects", "is aborted"] as const)(
    "leaves no listener at its signal when it %s",
    async (how) => {
      const stop = new AbortController();
      const listeners = new Set<unknown>();
      const { signal } = stop;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (type: string, listener: () => void, options: object) => {
        listeners.add(listener);
        add(type, () => (listeners.delete(listener), listener()), options);
      };
      signal.removeEventListener = (type: string, listener: () => void) => {
        listeners.delete(listener);
        remove(type, listener);
      };
      const work = deferred<string>();
      const waiting = orAborted(work.promise, signal);
      expect(listeners.size).toBe(1);
      if (how === "resolves") work.resolve("done");
      else if (how === "rejects") work.reject(new Error("done"));
      else stop.abort(new Error("done"));
      expect(await waiting.catch(({ message }: Error) => message)).toBe("done");
      await new Promise((resolve) => setImmediate(resolve));
      expect(listeners.size).toBe(0);
    },
  );
});
