/** What plugins register, and whether it is still what agents have. */
import { expect, test } from "bun:test";
import { createSkillRegistry } from "./skill-registry.ts";

test("skills that go and come back the same are no change; other files under the same path are", () => {
  const registry = createSkillRegistry();
  let told = 0;
  using _listening = registry.onChange(() => void told++);
  expect([registry.hasChanged(), registry.take()]).toEqual([false, []]);
  const knots = registry.add({ path: "/p/knots", digest: "1" });
  registry.add({ path: "/p/charts", digest: null });
  expect(registry.hasChanged()).toBe(true);
  expect(registry.take()).toEqual(["/p/charts", "/p/knots"]);
  knots[Symbol.dispose]();
  knots[Symbol.dispose]();
  expect(registry.hasChanged()).toBe(true);
  const again = registry.add({ path: "/p/knots", digest: "1" });
  expect(registry.hasChanged()).toBe(false);
  again[Symbol.dispose]();
  registry.add({ path: "/p/knots", digest: "2" });
  expect(registry.hasChanged()).toBe(true);
  expect(told).toBe(6);
});
