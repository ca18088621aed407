/** Results that are kept for a while: never too old, never too many, and the same question again takes no second place. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { createResultsCache, KEPT_MS, MAX_KEPT } from "./results-cache.ts";

const found = (title: string) => [{ title, url: "https://example.com/", snippet: "" }];

test("results are kept for ten minutes from when they were put, and not a moment longer", async () => {
  const clock = createFakeClock();
  const cache = createResultsCache(clock);
  cache.put("a", found("old"));
  await clock.advance(KEPT_MS - 1);
  expect(cache.get("a")).toEqual(found("old"));
  await clock.advance(1);
  expect(cache.get("a")).toBeNull();
  cache.put("a", found("new"));
  expect(cache.get("a")).toEqual(found("new"));
});

test("beyond the limit the oldest results go, and results that are put again are the newest", () => {
  const cache = createResultsCache(createFakeClock());
  for (let key = 0; key < MAX_KEPT; key++) cache.put(`k${key}`, found(`k${key}`));
  cache.put("k0", found("again"));
  expect(cache.get("k1")).not.toBeNull(); // no other had to go for it
  cache.put("one more", found("one more"));
  expect([cache.get("k0"), cache.get("k1"), cache.get("k2")]).toEqual([found("again"), null, found("k2")]);
});
