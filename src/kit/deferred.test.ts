import { describe, expect, test } from "bun:test";
import { lazy } from "./deferred.ts";

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
