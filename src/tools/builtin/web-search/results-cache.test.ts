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
  cache.put("k1", found("again"));
  expect(cache.get("k0")).not.toBeNull(); // no other had to go for it
  for (const key of ["one more", "and another"]) cache.put(key, found(key));
  expect(["k0", "k1", "k2", "k3"].map((key) => cache.get(key)?.[0]?.title)).toEqual([
    undefined,
    "again",
    undefined,
    "k3",
  ]);
});
