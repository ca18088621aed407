import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createKeptSizes } from "./kept-sizes.ts";

const SIGNAL = AbortSignal.timeout(10_000);

test("sizes are measured once a minute, however often somebody asks, and again when a measurement failed", async () => {
  const clock = createFakeClock();
  let measured = 0;
  let isBroken = true;
  const kept = createKeptSizes({
    clock,
    retention: {
      sizes: async () => {
        measured++;
        if (isBroken) throw new Error("the disk does not answer");
        return { bytes: measured, tables: [], folders: [] };
      },
    },
  });
  const bytes = async () => (await kept.sizes(SIGNAL)).bytes;
  await expect(kept.sizes(SIGNAL)).rejects.toThrow("the disk does not answer");
  isBroken = false;
  expect([await bytes(), await bytes()]).toEqual([2, 2]);
  await clock.advance(59_000);
  expect(await bytes()).toBe(2);
  await clock.advance(1_000);
  expect([await bytes(), await bytes()]).toEqual([3, 3]);
});
