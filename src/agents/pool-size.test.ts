import { expect, test } from "bun:test";
import { isMemoryScarce, measureMachine, poolSize } from "./pool-size.ts";

test.each([
  ["a small server: never fewer than two", { freeMb: 150, cores: 1 }, 2],
  ["half of the free memory, 100 MB for each", { freeMb: 1_000, cores: 4 }, 5],
  ["8 GB, most of it free, and two cores", { freeMb: 6_000, cores: 2 }, 30],
  ["much memory and few cores: sixteen for each core", { freeMb: 64_000, cores: 2 }, 32],
  ["a large machine: never more than 64", { freeMb: 512_000, cores: 64 }, 64],
])("the size of a pool without a setting, on %s", (_name, machine, max) => {
  expect(poolSize(undefined, machine).max).toBe(max);
});

test("the size of a pool is what agent.pool.max says, whatever the machine holds", () => {
  expect(poolSize(3, { freeMb: 64_000, cores: 32 })).toEqual({ max: 3, because: "agent.pool.max says so" });
});

test("the reason of a pool's size names the memory and the cores it was measured by", () => {
  const { because } = poolSize(undefined, { freeMb: 6_144, cores: 1 });
  expect(because).toBe("6.0 GB of memory were free at the start, with 1 core");
});

test("memory is scarce when four more processes would not fit", () => {
  expect([399, 400].map((freeMb) => isMemoryScarce({ freeMb, cores: 2 }))).toEqual([true, false]);
});

test("a machine is measured in megabytes that are there, and cores", () => {
  const { freeMb, cores } = measureMachine();
  expect(freeMb).toBeGreaterThan(16);
  expect(freeMb).toBeLessThan(64 * 1_024 * 1_024);
  expect(cores).toBeGreaterThanOrEqual(1);
});
