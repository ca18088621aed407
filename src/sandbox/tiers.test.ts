import { expect, test } from "bun:test";
import { reportOf } from "./tiers.ts";

const SEPARATE = { together: "cgroup v2 is not mounted", limitsMemory: false } as const;

test("a machine on which an agent's processes are limited together is not told that they are not", () => {
  const leaks = (together: string | null, limitsMemory: boolean) =>
    reportOf({ platform: "linux", full: null, basic: null, together, limitsMemory }).leaks.join(" ");
  expect(leaks("cgroup v2 is not mounted", false)).toContain(
    "all processes of an agent together: cgroup v2 is not mounted.",
  );
  expect(leaks(null, false)).toContain("its cgroup has no memory controller");
  expect(leaks(null, true)).not.toContain("together");
});

test.each([
  ["linux", null, null, "full"],
  ["linux", null, "no Landlock", "full"],
  ["linux", "no namespaces", null, "basic"],
  ["linux", "no namespaces", "no Landlock", "none"],
  ["darwin", "macOS has no namespaces", null, "basic"],
  ["freebsd", "there is no wall for freebsd", "there is no wall for freebsd", "none"],
] as const)("on %s the full tier with %p and the basic tier with %p give %s", (platform, full, basic, tier) => {
  const report = reportOf({ ...SEPARATE, platform, full, basic });
  expect(report.tier).toBe(tier);
  expect(report.leaks.length).toBeGreaterThan(0);
});

test("a machine without a wall is told why, and what to do", () => {
  const { because, advice } = reportOf({ ...SEPARATE, platform: "linux", full: "no namespaces", basic: "no Landlock" });
  expect(because).toBe("No wall can be built: no namespaces; no Landlock.");
  expect(advice).toContain("Linux 6.7");
});

test.each([null, "no Landlock"])(
  "a machine whose user namespaces are used up is told which number to raise, with %p about the basic tier",
  (basic) => {
    const advice = (full: string) => reportOf({ ...SEPARATE, platform: "linux", full, basic }).advice;
    expect(advice("unshare failed: No space left on device")).toContain("user.max_user_namespaces=15000");
    expect(advice("unshare failed: Operation not permitted")).not.toContain("max_user_namespaces");
  },
);

test("a reason that holds for both tiers is given once", () => {
  expect(reportOf({ ...SEPARATE, platform: "sunos", full: "no", basic: "no" }).because).toBe(
    "No wall can be built: no.",
  );
});
