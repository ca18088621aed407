/** The one rule for parameters in another form than the schema asks for. */
import { describe, expect, test } from "bun:test";
import { compileSchema } from "../compile.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    size: { type: "number" },
    on: { type: "boolean" },
    list: { type: "array", items: { type: "integer" } },
    inner: { type: "object", properties: { count: { $ref: "#/$defs/count" } }, required: ["count"] },
    maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
    level: { enum: [1, 2, 3] },
    either: { type: ["string", "number"] },
    all: { allOf: [{ $ref: "#/$defs/count" }, { minimum: 0 }] },
    form: { anyOf: [{ type: "null" }, { type: "object", properties: { on: { type: "boolean" } } }] },
    filled: { type: "string", default: "yes" },
    anything: {},
    half: { anyOf: [{ type: "integer" }, { description: "anything else" }] },
  },
  required: ["text", "filled"],
  $defs: { count: { type: "integer" } },
};

function coerce(value: unknown): unknown {
  const compiled = compileSchema(schema);
  if (compiled.kind !== "ok") throw new Error(compiled.because);
  return compiled.coerce(value);
}

describe("a parameter in another form", () => {
  test.each([
    [{ count: "2" }, { count: 2 }],
    [{ count: "-0" }, { count: -0 }],
    [
      { count: "2.0", size: "2.5e3" },
      { count: 2, size: 2500 },
    ],
    [
      { on: "true", text: 5 },
      { on: true, text: "5" },
    ],
    [{ list: ["1", 2] }, { list: [1, 2] }],
    [{ list: '["1", 2]' }, { list: [1, 2] }],
    [{ inner: '{"count": "3"}' }, { inner: { count: 3 } }],
    [{ inner: { count: "3" } }, { inner: { count: 3 } }],
    [
      { maybe: "4", level: "2", all: "1" },
      { maybe: 4, level: 2, all: 1 },
    ],
    [{ form: { on: "false" } }, { form: { on: false } }],
    [{ count: null, filled: null }, {}],
  ])("%j is read as %j", (given, used) => {
    expect(coerce(given)).toEqual(used);
  });

  test.each([
    [{ text: null }],
    [{ inner: { count: null } }],
    [{ list: [null] }],
    [{ maybe: null, form: null, anything: null }],
    [{ count: true, size: false, on: 1, text: true }],
    [{ count: "two", size: "", on: "yes" }],
    [{ count: "2.5", size: " 2 " }],
    [{ count: "12345678901234567890" }],
    [{ text: 2 ** 60 }],
    [{ either: "2", anything: "2", half: "2" }],
    [{ list: "1", inner: "[1]", level: "x" }],
    [{ unknown: "2" }],
    ["2"],
    [null],
  ])("%j stays as it is", (given) => {
    expect(coerce(given)).toBe(given);
  });

  test("a schema whose parts multiply does not hold up the gateway", () => {
    const levels = Array.from({ length: 30 }, (_, at) => [
      `d${at}`,
      at === 29
        ? { type: "object", properties: { a: { type: "integer" } } }
        : { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]);
    const bomb = compileSchema({ type: "object", $ref: "#/$defs/d0", $defs: Object.fromEntries(levels) });
    const value = { a: "1" };
    if (bomb.kind === "ok") expect(bomb.coerce(value)).toBe(value);
  });
});
