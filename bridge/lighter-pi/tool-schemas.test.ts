/** JSON as pi gets it: every text and every value is what it would be, and a known schema is written and read once. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSchemaJson } from "./tool-schemas.ts";

const native = { parse: JSON.parse, stringify: JSON.stringify };

/** Counts how often a schema is written and read natively. */
function counted() {
  const counts = { written: 0, read: 0 };
  const stringify = (value: unknown, ...more: unknown[]) => {
    if (typeof value === "object" && value !== null) counts.written++;
    return (native.stringify as (...all: unknown[]) => string)(value, ...more);
  };
  const parse = (...all: Parameters<typeof JSON.parse>) => {
    counts.read++;
    return native.parse(...all);
  };
  return { counts, ...createSchemaJson({ stringify, parse } as typeof native) };
}

const schema = (name = "query") => ({
  type: "object",
  properties: { [name]: { type: "string", maxLength: 80 } },
  required: [name],
});

/** As pi compares two tools. */
const declaration = (json: Pick<typeof JSON, "stringify" | "parse">, tool: Record<string, unknown>) =>
  json.stringify({
    name: tool["name"],
    description: tool["description"],
    parameters: json.parse(json.stringify(tool["parameters"])),
    ...(tool["strict"] === undefined ? {} : { strict: tool["strict"] }),
  });

describe("a schema that the bridge has named", () => {
  test("is written and read once, however often pi compares tools that have it", () => {
    const json = counted();
    const parameters = Object.defineProperty({}, "toJSON", { value: () => schema() });
    json.know(parameters);
    const tool = { name: "search", description: "Searches.", parameters };
    const first = declaration(json, tool);
    const after = { ...json.counts };
    for (let turn = 0; turn < 10; turn++) expect(declaration(json, tool)).toBe(first);
    expect(json.counts).toEqual(after);
    expect(first).toBe(declaration(native, tool));
  });

  test("is known in another object that says the same, such as one from a session file, and that object cannot change any more", () => {
    const json = counted();
    json.know(schema());
    const stored = schema();
    expect(json.stringify(stored)).toBe(native.stringify(schema()));
    const before = { ...json.counts };
    expect(json.stringify(stored)).toBe(native.stringify(schema()));
    expect(json.counts).toEqual(before);
    expect(() => void (stored.properties["query"] = { type: "string", maxLength: 1 })).toThrow(TypeError);
  });

  test("that was read cannot be changed by whoever reads it, because others are given the same", () => {
    const json = counted();
    json.know(schema());
    const read = json.parse(native.stringify(schema())) as ReturnType<typeof schema>;
    expect(() => read.required.push("more")).toThrow(TypeError);
    expect(json.parse(native.stringify(schema()))).toBe(read);
    expect([json.isShared(read), json.isShared(schema())]).toEqual([true, false]);
  });
});

describe("a declaration", () => {
  test("is written anew when its name, its description or its schema is another one", () => {
    const json = counted();
    const both = [schema("query"), schema("path")];
    for (const one of both) json.know(one);
    for (const parameters of both) {
      for (const name of ["search", "find"]) {
        for (const description of ["Searches.", "Finds “all”.\n", undefined]) {
          for (const strict of [undefined, true]) {
            const tool = { name, description, parameters, strict };
            expect(declaration(json, tool)).toBe(declaration(native, tool));
          }
        }
      }
    }
  });

  test("of a schema that nobody has named is written as it is, also after it has changed", () => {
    const json = counted();
    const parameters = schema();
    const tool = { name: "search", description: "Searches.", parameters };
    expect(declaration(json, tool)).toBe(declaration(native, tool));
    parameters.required.push("more");
    expect(declaration(json, tool)).toBe(declaration(native, tool));
  });
});

test("every other value is written and read as it would be, beside known schemas too", () => {
  const json = createSchemaJson(native);
  json.know(schema());
  const known = json.parse(native.stringify(schema()));
  const values = fc.letrec((all) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.constantFrom(undefined, known, schema(), Number.NaN, new Date(0)),
      fc.array(all("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("type", "name", "description", "parameters", "tools", "__proto__"), all("value")),
      fc.record({ name: fc.string(), description: fc.string(), parameters: fc.constantFrom(known, schema()) }),
    ),
  })).value;
  fc.assert(
    fc.property(values, (value) => {
      const text = native.stringify(value);
      expect(json.stringify(value)).toBe(text);
      if (text !== undefined) expect(json.parse(text)).toEqual(native.parse(text));
    }),
    { numRuns: 2_000 },
  );
});

test.each([null, 12, true, undefined, {}, { toString: () => '{"a":1}' }, Buffer.from("[1]")])(
  "%p, which is no text, is read as it would be",
  (value) => {
    const { parse } = createSchemaJson(native);
    const outcome = (read: (text: never) => unknown): unknown => {
      try {
        return read(value as never);
      } catch (error) {
        return String(error);
      }
    };
    expect(outcome(parse)).toEqual(outcome(native.parse));
  },
);

test("values with a replacer, spaces or a reviver are written and read by pi's own rules", () => {
  const json = createSchemaJson(native);
  const parameters = schema();
  json.know(parameters);
  expect(json.stringify(parameters, null, 2)).toBe(native.stringify(parameters, null, 2));
  expect(json.stringify({ parameters, type: 1 }, ["type"])).toBe('{"type":1}');
  expect(json.parse(native.stringify(parameters), (key, value) => (key === "type" ? 0 : value))).toMatchObject({
    type: 0,
  });
  expect(() => json.parse("{")).toThrow(SyntaxError);
});
