/** What plugins lend, and whether it is still what agents have. */
import { expect, test } from "bun:test";
import { createSkillRegistry } from "./skill-registry.ts";

test("skills that go and come back the same are no change; other files under the same path are", () => {
  const shelf = createSkillRegistry();
  let told = 0;
  using _listening = shelf.onChange(() => void told++);
  expect([shelf.hasChanged(), shelf.take()]).toEqual([false, []]);
  const knots = shelf.add({ path: "/p/knots", digest: "1" });
  shelf.add({ path: "/p/charts", digest: null });
  expect(shelf.hasChanged()).toBe(true);
  expect(shelf.take()).toEqual(["/p/charts", "/p/knots"]);
  knots[Symbol.dispose]();
  knots[Symbol.dispose]();
  expect(shelf.hasChanged()).toBe(true);
  const again = shelf.add({ path: "/p/knots", digest: "1" });
  expect(shelf.hasChanged()).toBe(false);
  again[Symbol.dispose]();
  shelf.add({ path: "/p/knots", digest: "2" });
  expect(shelf.hasChanged()).toBe(true);
  expect(told).toBe(6);
});
