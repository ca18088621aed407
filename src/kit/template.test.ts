import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fillTemplate, MAX_PLACEHOLDERS, templateProblem } from "./template.ts";

const LIMITS = { maxValueChars: 20, maxChars: 200 };
const DOCUMENT = {
  repo: { name: "acme/app", "full-name": "The App" },
  builds: [{ id: 41 }, { id: 42, ok: false, log: null }],
  long: "x".repeat(50),
  trick: "{{repo.name}} $& $1",
};

describe("a template", () => {
  test.each([
    ["Build {{builds.1.id}} of {{ repo.name }} failed.", "Build 42 of acme/app failed."],
    ["{{repo.full-name}} {{builds.1.ok}} {{builds.1.log}}", "The App false null"],
    ["{{builds.0}}", '{"id":41}'],
    ["{{long}}", `${"x".repeat(20)}… (30 more characters)`],
    ["{{trick}}", "{{repo.name}} $& $1"],
    ["{{builds.length}} builds", "2 builds"],
    ["no values at all", "no values at all"],
  ])("%j is filled in: %j", (template, expected) => {
    expect(fillTemplate(template, DOCUMENT, LIMITS)).toBe(expected);
  });

  test.each(["gone", "repo.gone", "repo.name.length", "builds.7.id", "constructor", "__proto__.x"])(
    "says that there is no value at %s",
    (path) => {
      expect(fillTemplate(`It is {{${path}}}.`, DOCUMENT, LIMITS)).toBe(`It is (no value at ${path}).`);
    },
  );

  test("shows the whole document, and is never longer than its limit allows", () => {
    expect(fillTemplate("{{.}}", [1, "a"], LIMITS)).toBe('[1,"a"]');
    const many = "{{long}}".repeat(20);
    expect(fillTemplate(many, DOCUMENT, LIMITS).length).toBeLessThan(LIMITS.maxChars + 40);
  });

  test("takes any document there is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string(), (document, key) => {
        const path = key.replace(/[^a-z]/g, "") || "a";
        expect(fillTemplate(`{{${path}}}{{.}}`, document, LIMITS).length).toBeLessThan(LIMITS.maxChars + 40);
      }),
    );
  });
});

test.each([
  ["Build {{build.id}} {{ . }}", null],
  ["{{ a + b }}", "no path"],
  ["{{a..b}}", "no path"],
  ["{{}}", "no path"],
  ["{{a}", "other half"],
  ["a}}", "other half"],
  ["{{a}}".repeat(MAX_PLACEHOLDERS + 1), "more than"],
])("the template %j has the fault %p", (template, expected) => {
  const found = templateProblem(template);
  if (expected === null) expect(found).toBeNull();
  else expect(String(found)).toMatch(new RegExp(expected));
});
