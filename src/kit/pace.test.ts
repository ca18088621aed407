/** Requests of one name per minute: as many at once as the minute has, then as time gives them back. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createPace } from "./pace.ts";

test("a minute's worth is taken at once, to the last, and the next one is told how long to wait", async () => {
  const clock = createFakeClock();
  const pace = createPace(clock);
  expect([1, 2, 3].map(() => pace.take("deploy", 3))).toEqual([0, 0, 0]);
  expect(pace.take("deploy", 3)).toBe(20_000);
  expect(pace.take("deploy", 3)).toBe(20_000); // one that was refused costs nothing
  await clock.advance(19_999);
  expect(pace.take("deploy", 3)).toBe(1);
  await clock.advance(1);
  expect(pace.take("deploy", 3)).toBe(0);
});

test("a hook that was quiet for long has one minute's worth, and no more", async () => {
  const clock = createFakeClock();
  const pace = createPace(clock);
  pace.take("deploy", 2);
  await clock.advance(3_600_000);
  expect([1, 2, 3].map(() => pace.take("deploy", 2) === 0)).toEqual([true, true, false]);
});

test("hooks do not share their minutes", () => {
  const pace = createPace(createFakeClock());
  expect([pace.take("a", 1), pace.take("b", 1), pace.take("a", 1) > 0]).toEqual([0, 0, true]);
});

test("ten thousand names are remembered, the one that was quiet longest goes first", () => {
  const pace = createPace(createFakeClock());
  pace.take("first", 1);
  pace.take("second", 1);
  for (let name = 0; name < 9_998; name++) pace.take(`n${name}`, 1);
  expect(pace.take("first", 1)).toBeGreaterThan(0); // still known, and now the newest
  pace.take("one more", 1);
  expect([pace.take("first", 1) > 0, pace.take("second", 1)]).toEqual([true, 0]);
});
