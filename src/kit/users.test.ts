import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createUsers } from "./users.ts";

function world() {
  const clock = createFakeClock();
  let told = 0;
  const users = createUsers(clock, { idleMs: () => 1_000, unused: () => void told++ });
  return { clock, users, told: () => told };
}

test("something that nobody uses any more is told as unused after its time, once", async () => {
  const { clock, users, told } = world();
  const [one, other] = [users.use(), users.use()];
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

test("a new user, and the end of counting, end the wait", async () => {
  const { clock, users, told } = world();
  users.use()[Symbol.dispose]();
  await clock.advance(500);
  const again = users.use();
  await clock.advance(5_000);
  again[Symbol.dispose]();
  users[Symbol.dispose]();
  users.wait();
  await clock.advance(5_000);
  expect([told(), clock.pending()]).toEqual([0, 0]);
});
