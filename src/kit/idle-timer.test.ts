import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createIdleTimer } from "./idle-timer.ts";

function world() {
  const clock = createFakeClock();
  let told = 0;
  const timer = createIdleTimer(clock, { idleMs: () => 1_000, unused: () => void told++ });
  return { clock, timer, told: () => told };
}

test("an idle timer tells once that nobody uses something any more, after its time", async () => {
  const { clock, timer, told } = world();
  const [one, other] = [timer.use(), timer.use()];
  one[Symbol.dispose]();
  one[Symbol.dispose](); // it counts once
  await clock.advance(5_000);
  expect(told()).toBe(0);
  other[Symbol.dispose]();
  await clock.advance(999);
  expect(told()).toBe(0);
  await clock.advance(10_000);
  expect(told()).toBe(1);
});

test("a new use, and the end of an idle timer, end its wait", async () => {
  const { clock, timer, told } = world();
  timer.use()[Symbol.dispose]();
  await clock.advance(500);
  const again = timer.use();
  await clock.advance(5_000);
  again[Symbol.dispose]();
  timer[Symbol.dispose]();
  timer.restart();
  await clock.advance(5_000);
  expect([told(), clock.pending()]).toEqual([0, 0]);
});
