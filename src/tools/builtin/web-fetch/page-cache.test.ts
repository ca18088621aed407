/** The limits of the page cache: what is counted is what is kept. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { createPageCache, MAX_CACHE_CHARS, MAX_PAGES } from "./page-cache.ts";

const page = (text: string) => ({ url: "https://site.example/", title: "", text, isCut: false });

test("a page that is put again takes the place of the old one, and is counted once", () => {
  const cache = createPageCache(createFakeClock());
  const large = page("x".repeat(MAX_CACHE_CHARS / 2));
  cache.put("other", page("y"), 1_000);
  for (let n = 0; n < 5; n++) cache.put("large", large, 1_000);
  expect([cache.get("other")?.text, cache.get("large") === large]).toEqual(["y", true]);
});

test("pages beyond the size limit push out the oldest ones, also when there are few", () => {
  const cache = createPageCache(createFakeClock());
  for (const key of ["a", "b", "c"]) cache.put(key, page(key.repeat(MAX_CACHE_CHARS / 2)), 1_000);
  expect(["a", "b", "c"].map((key) => cache.get(key) !== null)).toEqual([false, true, true]);
});

test("pages beyond the number limit push out the oldest ones, also when they are short", () => {
  const cache = createPageCache(createFakeClock());
  for (let n = 0; n <= MAX_PAGES; n++) cache.put(`page ${n}`, page("x"), 1_000);
  expect([cache.get("page 0"), cache.get("page 1")?.text]).toEqual([null, "x"]);
});

test("a page is kept for as long as it was put for, and not a moment longer", async () => {
  const clock = createFakeClock();
  const cache = createPageCache(clock);
  cache.put("a", page("x"), 1_000);
  await clock.advance(999);
  expect(cache.get("a")?.text).toBe("x");
  await clock.advance(1);
  expect(cache.get("a")).toBeNull();
});

test("a page that is kept for no time is not kept, takes the old one away and pushes out no other", () => {
  const cache = createPageCache(createFakeClock());
  for (let n = 0; n < MAX_PAGES; n++) cache.put(`page ${n}`, page("x"), 1_000);
  cache.put("page 5", page("y"), 0);
  cache.put("unkept", page("y"), 0);
  expect([cache.get("page 5"), cache.get("unkept"), cache.get("page 0")?.text]).toEqual([null, null, "x"]);
});

test("a page that is larger than the whole cache is not kept, and pushes out no other", () => {
  const cache = createPageCache(createFakeClock());
  cache.put("small", page("x"), 1_000);
  cache.put("large", page("y".repeat(MAX_CACHE_CHARS + 1)), 1_000);
  expect([cache.get("small")?.text, cache.get("large")]).toEqual(["x", null]);
});

test("pages that have expired give their room back", async () => {
  const clock = createFakeClock();
  const cache = createPageCache(clock);
  cache.put("large", page("y".repeat(MAX_CACHE_CHARS)), 1_000);
  await clock.advance(1_000);
  expect(cache.get("large")).toBeNull();
  for (const key of ["a", "b"]) cache.put(key, page(key.repeat(MAX_CACHE_CHARS / 2)), 1_000);
  expect(["a", "b"].map((key) => cache.get(key) !== null)).toEqual([true, true]);
});
