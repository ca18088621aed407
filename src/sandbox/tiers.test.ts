import { expect, test } from "bun:test";
import { reportOf } from "./tiers.ts";

test.each([
  ["linux", null, null, "full"],
  ["linux", null, "no Landlock", "full"],
  ["linux", "no namespaces", null, "basic"],
  ["linux", "no namespaces", "no Landlock", "none"],
  ["darwin", "macOS has no namespaces", null, "basic"],
  ["freebsd", "there is no wall for freebsd", "there is no wall for freebsd", "none"],
] as const)("on %s the full tier with %p and the basic tier with %p give %s", (platform, full, basic, tier) => {
  const report = reportOf({ platform, full, basic });
  expect(report.tier).toBe(tier);
  expect(report.leaks.length).toBeGreaterThan(0);
});

test("a machine without a wall is told why, and what to do", () => {
  const { because, advice } = reportOf({ platform: "linux", full: "no namespaces", basic: "no Landlock" });
  expect(because).toBe("No wall can be built: no namespaces; no Landlock.");
  expect(advice).toContain("Linux 6.7");
});

test("a reason that holds for both tiers is given once", () => {
  expect(reportOf({ platform: "sunos", full: "no", basic: "no" }).because).toBe("No wall can be built: no.");
});
