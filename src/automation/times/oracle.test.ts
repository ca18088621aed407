/** The times of cron expressions against a second, slower way to know them. `npm run cron-oracle` runs fifty times as many cases. */
import { expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { compareCron, invalidExpression, ZONES } from "../../testing/automation/cron-cases.ts";
import { createChance } from "../../testing/chance.ts";
import { createTimes } from "./times.ts";

const MAX_READ_MS = 50;

/** In each of a few tries: a busy machine is no slow reading. */
function isSlow(read: () => unknown): boolean {
  return [1, 2, 3].every(() => {
    const began = systemClock.elapsed();
    read();
    return systemClock.elapsed() - began > MAX_READ_MS;
  });
}

test("100 random expressions around clock changes in 40 zones fire exactly when the clock on the wall says", () => {
  const { differences, moments } = compareCron(createChance(1), 100);
  expect(differences).toEqual([]);
  expect(moments).toBeGreaterThan(2_500);
}, 120_000);

test("1,000 invalid expressions are refused with a reason, each within 50 ms", () => {
  const times = createTimes(() => "UTC");
  const slow: string[] = [];
  const taken: string[] = [];
  const chance = createChance(2);
  for (let count = 0; count < 1_000; count++) {
    const expr = invalidExpression(chance);
    const timezone = chance.pick(ZONES);
    const read = times.read({ kind: "cron", expr, timezone });
    if (isSlow(() => times.read({ kind: "cron", expr, timezone }))) slow.push(expr);
    if (read.ok || read.problem.length < 20) taken.push(expr);
  }
  expect({ taken, slow }).toEqual({ taken: [], slow: [] });
});
