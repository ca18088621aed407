/** The page of what works: a scenario counts when it has checked something, and what is left out is named and really fails. */
import { describe, expect, spyOn, test } from "bun:test";
import { hasPassed, revisionReport, type Scenario } from "../scripts/compatibility/conformance.ts";
import { pageWith } from "../scripts/compatibility/page.ts";
import type { Suite } from "../scripts/compatibility/suite.ts";

const scenario = (name: string, more: Partial<Scenario> = {}): Scenario => ({
  name,
  passed: 2,
  warnings: 0,
  failures: [],
  ...more,
});

describe("a scenario", () => {
  test.each([
    ["that has checked something and failed nothing passes", scenario("a"), true],
    ["that has checked nothing does not", scenario("a", { passed: 0 }), false],
    ["with one failure does not, whatever else it checked", scenario("a", { failures: ["x"] }), false],
  ])("%s", (_what, one, passes) => expect(hasPassed(one)).toBe(passes));
});

describe("the report of a revision", () => {
  const report = (scenarios: readonly Scenario[], leftOut = {}) => {
    using _said = spyOn(console, "error").mockImplementation(() => undefined);
    return revisionReport("2026-07-28", scenarios, leftOut);
  };

  test("counts what passes, and names what is left out with its reason", () => {
    const failed = scenario("b", { failures: ["no"] });
    const { ok, text } = report([scenario("a"), failed], { b: "It is not offered." });
    expect(ok).toBe(true);
    expect(text).toContain("1 of 2 required scenarios pass, with 2 checks and 0 warnings.");
    expect(text).toContain("| `b` | It is not offered. |");
  });

  test("fails for a failure that nobody has named, and for a name that passes", () => {
    expect(report([scenario("a", { failures: ["no"] })]).ok).toBe(false);
    expect(report([scenario("a")], { a: "It is not offered." }).ok).toBe(false);
  });
});

test("a section that was not run stays as it is in the page, and the order is that of the suites", () => {
  const suites: Suite[] = ["one", "two"].map((name) => ({
    name,
    title: `About ${name}`,
    run: async () => ({ ok: true, text: "" }),
  }));
  const first = pageWith(suites, new Map([["two", "2 of 2"]]), "");
  const second = pageWith(suites, new Map([["one", "1 of 1"]]), first);
  expect(second.match(/\d of \d|## About \w+/g)).toEqual(["## About one", "1 of 1", "## About two", "2 of 2"]);
  expect(pageWith(suites, new Map([["two", "1 of 2"]]), second)).not.toContain("2 of 2");
});
