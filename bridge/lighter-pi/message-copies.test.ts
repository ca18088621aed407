/** Copies of a conversation: equal to what a structured clone gives, and nothing in them belongs to the original. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createClone } from "./message-copies.ts";

/** Says how often the usual way was gone. */
function clones(isShared = (_value: object) => false) {
  const counts = { native: 0 };
  const native = ((value: unknown, ...more: []) => {
    counts.native++;
    return structuredClone(value, ...more);
  }) as typeof structuredClone;
  return { counts, clone: createClone(native, isShared) };
}

const messages = () => [
  { role: "user", content: [{ type: "text", text: "hello" }], timestamp: 1 },
  { role: "assistant", content: [], usage: { input: 1, cost: { total: 0 } }, errorMessage: undefined, stop: null },
];

/** Every object in a value. */
function inside(value: unknown): readonly object[] {
  return typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(inside)] : [];
}

test("a conversation is copied without a structured clone, and the copy shares nothing with it", () => {
  const { clone, counts } = clones();
  const original = messages();
  const copied = clone(original);
  expect(copied).toStrictEqual(original);
  expect(inside(copied).filter((one) => inside(original).includes(one))).toEqual([]);
  expect(counts.native).toBe(0);
});

test("schemas that cannot change are in a copy themselves, and everything around them is copied", () => {
  const schema = Object.freeze({ type: "object", properties: Object.freeze({}) });
  const { clone } = clones((value) => value === schema);
  const original = [{ role: "system", toolsAdded: [{ name: "search", parameters: schema }] }];
  const [copied] = clone(original);
  expect(copied).toStrictEqual(original[0]);
  expect(copied?.toolsAdded[0]?.parameters).toBe(schema);
  expect(copied?.toolsAdded[0]).not.toBe(original[0]?.toolsAdded[0]);
});

test("lists of any plain data are copied as a structured clone copies them", () => {
  const { clone, counts } = clones();
  const frozen = Object.freeze({ type: "object", properties: Object.freeze({ a: 1 }) });
  const values = fc.array(
    fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1n, Number.NaN, -0, frozen, { a: undefined })),
  );
  fc.assert(
    fc.property(values, (value) => {
      const copied = clone(value);
      expect(copied).toStrictEqual(structuredClone(value));
      expect(inside(copied).some((one) => Object.isFrozen(one))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
  expect(counts.native).toBeLessThan(50); // those with a name that is not plain
});

describe("the usual way is gone for", () => {
  const itself: unknown[] = [];
  itself.push(itself);
  const deep = Array.from({ length: 150 }).reduce<unknown>((inner) => [inner], "end");
  const unusual: readonly (readonly [string, unknown])[] = [
    ["dates", [new Date(1)]],
    ["maps and bytes", [{ map: new Map([[1, 2]]), bytes: new Uint8Array([1, 2]) }]],
    ["errors", [new TypeError("wrong")]],
    ["objects of a class", [new URLSearchParams("a=1")].map((one) => Object.create(one as object))],
    ["lists that refer to themselves", itself],
    ["very deep lists", deep],
    ["lists with gaps", [1, , 3]], // oxlint-disable-line no-sparse-arrays
    ["lists with names beside their numbers", Object.assign([1, 2], { index: 0 })],
    ["a field named __proto__", [JSON.parse('{"__proto__": {"a": 1}}')]],
    ["what is no list", { role: "user" }],
  ];
  test.each(unusual)("%s", (_, value) => {
    const { clone, counts } = clones();
    const copied = clone(value);
    expect(counts.native).toBe(1);
    expect(Bun.inspect(copied, { depth: 3 })).toBe(Bun.inspect(structuredClone(value), { depth: 3 }));
  });

  test("functions and symbols, which nobody can copy", () => {
    const { clone } = clones();
    for (const one of [() => 1, Symbol("s")]) expect(() => clone([{ one }])).toThrow("cloned");
  });
});
