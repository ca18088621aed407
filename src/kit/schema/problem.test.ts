/** The words about schema problems, once for everybody who says them: settings, parameters of tools, settings and registrations of plugins. */
import { describe, expect, test } from "bun:test";
import { allowedValues, expectation, type Schema } from "./expectation.ts";
import { foundValue, joinPath, missingValue, unknownKey, wrongValue } from "./problem.ts";

describe("a schema expects", () => {
  test.each<[says: string, schema: Schema]>([
    ["text", { type: "string" }],
    ["text of 1 to 20 characters", { type: "string", minLength: 1, maxLength: 20 }],
    ["text of at most 20 characters", { type: "string", maxLength: 20 }],
    ["text of at least 1 character", { type: "string", minLength: 1 }],
    ["text in the format date-time", { type: "string", format: "date-time" }],
    ["text that matches ^a+$", { type: "string", pattern: "^a+$" }],
    ["text", { type: "string", pattern: "a".repeat(81) }],
    ["an address", { type: "string", pattern: "^https?://", expects: "an address" }],
    ["a number", { type: "number" }],
    ["a whole number from 1 to 10", { type: "integer", minimum: 1, maximum: 10 }],
    ["a whole number of at least 0", { type: "integer", minimum: 0 }],
    ["a number of at most 3", { type: "number", maximum: 3 }],
    ["a number above 0 and below 1", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }],
    ["a number that is a multiple of 5", { type: "number", multipleOf: 5 }],
    ["true or false", { type: "boolean" }],
    ["a function", { type: "function" }],
    ["an object in { }", { type: "object" }],
    ["a list in [ ]", { type: "array" }],
    ["a list in [ ] of at most 1 item, each text", { type: "array", maxItems: 1, items: { type: "string" } }],
    ["a list in [ ] of 1 to 3 items", { type: "array", minItems: 1, maxItems: 3, items: [{ type: "string" }] }],
    ["text or null", { type: ["string", "null"] }],
    [
      "text or a list in [ ], each a number",
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] },
    ],
    ['"on"', { const: "on" }],
    ['"on" or "off"', { enum: ["on", "off"] }],
    ['one of "a", "b" or 3', { enum: ["a", "b", 3] }],
    ['one of "a", "b" or "c"', { anyOf: [{ const: "a" }, { const: "b" }, { const: "c" }] }],
    ["nothing at all", { enum: [] }],
    ["any value", true],
    ["nothing at all", false],
    ["a value", {}],
  ])("%s", (says, schema) => expect(expectation(schema)).toBe(says));

  test("no more values and forms than can be read", () => {
    const many = Array.from({ length: 22 }, (_, at) => at);
    expect(expectation({ enum: many })).toEndWith("18, 19 (and 2 more)");
    expect(expectation({ const: "x".repeat(200) }).length).toBeLessThan(100);
  });

  test("what its reference leads to, and stops where that leads back to itself", () => {
    const circle = { $ref: "#" };
    expect(expectation(circle, () => ({ type: "boolean" }))).toBe("true or false");
    expect(expectation(circle, () => circle)).toBe("a value");
  });

  test("values that are listed as enum, const or forms, and none otherwise", () => {
    expect(allowedValues({ enum: [1, 2] })).toEqual([1, 2]);
    expect(allowedValues({ const: null })).toEqual([null]);
    expect(allowedValues({ oneOf: [{ const: "a" }, { const: "b" }] })).toEqual(["a", "b"]);
    expect(allowedValues({ anyOf: [{ const: "a" }, { type: "string" }] })).toBeNull();
    expect(allowedValues({ anyOf: [] })).toBeNull();
  });
});

describe("a value that was found is called", () => {
  test.each<[says: string, value: unknown]>([
    ["text", "a secret"],
    ["5", 5],
    ["NaN", Number.NaN],
    ["true", true],
    ["null", null],
    ["nothing", undefined],
    ["an object", { a: 1 }],
    ["an empty list", []],
    ["a list of 1 item", [1]],
    ["a list of 2 items", [1, 2]],
    ["a promise", Promise.resolve()],
    ["a function", () => undefined],
    ["a symbol", Symbol("odd")],
  ])("%s", (says, value) => expect(foundValue(value)).toBe(says));
});

test("a sentence about a wrong, missing or unknown value says what is expected and what was probably meant", () => {
  expect(wrongValue("5", "text")).toBe("is 5; it must be text.");
  expect(wrongValue(null, "text of 1 to 3 characters")).toBe("must be text of 1 to 3 characters.");
  expect(wrongValue('"of"', '"on" or "off"', "off")).toBe('is "of"; it must be "on" or "off". Did you mean "off"?');
  expect(missingValue("text")).toBe("is missing; it must be text.");
  expect(missingValue(null)).toBe("is missing.");
  expect(unknownKey("not a setting", "queue.mode")).toBe("is not a setting. Did you mean queue.mode?");
  expect(unknownKey("not known", null, ["a", "b"])).toBe("is not known. Known here: a, b.");
  expect(unknownKey("not known", null)).toBe("is not known.");
  const many = Array.from({ length: 50 }, (_, at) => `n${at}`);
  expect(unknownKey("not known", null, many)).toEndWith(", n39, …");
});

test("a path quotes names that are not plain, so that it can be read in one way and disturbs no terminal", () => {
  expect(joinPath("", "a")).toBe("a");
  expect(joinPath("a", "b-1")).toBe("a.b-1");
  expect(joinPath("a", "odd.name")).toBe('a."odd.name"');
  expect(joinPath("a", "x\u001b[2J\u202e")).toBe('a."x\\u001b[2J\ufffd"');
  expect(joinPath("", "k".repeat(200)).length).toBeLessThan(80);
});
