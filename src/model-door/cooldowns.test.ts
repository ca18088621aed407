/** Cooldowns of models: how long, for what, and that they end. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createCooldowns } from "./cooldowns.ts";

const failure = { provider: "p", model: "p/m", status: 500, because: "500 oh no", waitMs: null };

test("a model that failed is left alone for a minute, and others of its provider are not", async () => {
  const clock = createFakeClock();
  const cooldowns = createCooldowns(clock);
  cooldowns.begin(failure);
  expect([cooldowns.of("p", "p/m")?.because, cooldowns.of("p", "p/other")]).toEqual(["500 oh no", null]);
  await clock.advance(59_999);
  expect(cooldowns.of("p", "p/m")).not.toBeNull();
  await clock.advance(1);
  expect([cooldowns.of("p", "p/m"), cooldowns.list()]).toEqual([null, []]);
});

test.each([401, 402, 403])("a refused key (%d) is one for every model of its provider", (status) => {
  const cooldowns = createCooldowns(createFakeClock());
  cooldowns.begin({ ...failure, status });
  expect(cooldowns.of("p", "p/other")?.name).toBe("p");
});

test.each([
  [5_000, 5_000],
  [86_400_000, 900_000],
])("a provider that asks to wait %d ms is asked again after %d ms", async (waitMs, expected) => {
  const clock = createFakeClock();
  const cooldowns = createCooldowns(clock);
  cooldowns.begin({ ...failure, status: 429, waitMs });
  await clock.advance(expected - 1);
  expect(cooldowns.list().length).toBe(1);
  await clock.advance(1);
  expect(cooldowns.list().length).toBe(0);
});

test("a model that answers ends its cooldown", () => {
  const cooldowns = createCooldowns(createFakeClock());
  cooldowns.begin(failure);
  cooldowns.end("p", "p/m");
  expect(cooldowns.of("p", "p/m")).toBeNull();
});
