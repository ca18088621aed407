/**
 * A closed description of a value, and the first thing that is wrong with a value that should fit it. Unknown keys are errors: a misspelt
 * key that is ignored leaves its default in force. Never shows a text except where a choice was expected.
 */
import { isObject } from "../json.ts";
import { nearest } from "../nearest.ts";
import { expectation } from "./expectation.ts";
import { foundValue, joinPath, missingValue, quotedText, unknownKey, wrongValue } from "./problem.ts";

/** JSON Schema where it has a word for it. `keys`: exactly these; `entries`: any names, each with such a value. */
export type Shape =
  | { readonly type: "string" | "boolean" | "function" | "object" }
  | { readonly type: "number" | "integer"; readonly exclusiveMinimum: 0 }
  | { readonly enum: readonly string[] }
  | { readonly type: "array"; readonly items: Shape; readonly minItems?: number }
  | { readonly type: "object"; readonly entries: Shape | (() => Shape) }
  | { readonly type: "object"; readonly keys: Readonly<Record<string, Key>> };

interface Key {
  readonly shape: Shape;
  readonly optional?: true;
}

/** Every key of T, so that a key which is added to the type is missing here until it is described. */
export type KeysOf<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? { readonly shape: Shape; readonly optional: true } : Key;
};

type Fields = Readonly<Record<string, unknown>>;

/** A sentence; null: the value fits. `name` stands before every path: "The tool tide". */
export function misfitOf(name: string, value: unknown, shape: Shape): string | null {
  const wrong = misfit("", value, shape);
  return wrong === null ? null : `${name}: ${wrong}`;
}

function misfit(path: string, value: unknown, shape: Shape): string | null {
  if (!fits(value, shape)) return `${path === "" ? "it" : path} ${wrongKind(value, shape)}`;
  if ("keys" in shape) return misfitKeys(path, value as Fields, shape.keys);
  if ("entries" in shape) {
    const below = typeof shape.entries === "function" ? shape.entries() : shape.entries;
    return firstMisfit(Object.entries(value as Fields).map(([key, one]) => [joinPath(path, key), one, below]));
  }
  if (!("items" in shape)) return null;
  return firstMisfit((value as readonly unknown[]).map((one, at) => [`${path}[${at}]`, one, shape.items]));
}

function firstMisfit(parts: readonly (readonly [path: string, value: unknown, shape: Shape])[]): string | null {
  for (const [path, value, shape] of parts) {
    const wrong = misfit(path, value, shape);
    if (wrong !== null) return wrong;
  }
  return null;
}

function misfitKeys(path: string, value: Fields, keys: Readonly<Record<string, Key>>): string | null {
  const names = Object.keys(keys);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(keys, key));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    return `${joinPath(path, unknown)} ${unknownKey("not known", near && joinPath(path, near), names)}`;
  }
  const given = Object.entries(keys).filter(([key, { optional }]) => !optional || value[key] !== undefined);
  const missing = given.find(([key]) => value[key] === undefined);
  if (missing) return `${joinPath(path, missing[0])} ${missingValue(expectation(missing[1].shape))}`;
  return firstMisfit(given.map(([key, { shape }]) => [joinPath(path, key), value[key], shape]));
}

function fits(value: unknown, shape: Shape): boolean {
  if ("enum" in shape) return typeof value === "string" && shape.enum.includes(value);
  switch (shape.type) {
    case "object": // a promise is what a forgotten `await` leaves; it has no keys of its own that would give it away
      return isObject(value) && !(value instanceof Promise);
    case "array":
      return Array.isArray(value) && value.length >= (("minItems" in shape && shape.minItems) || 0);
    case "number":
      return Number.isFinite(value) && Number(value) > 0;
    case "integer":
      return Number.isSafeInteger(value) && Number(value) > 0;
    default:
      return typeof value === shape.type;
  }
}

function wrongKind(value: unknown, shape: Shape): string {
  const isWrongChoice = "enum" in shape && typeof value === "string";
  if (!isWrongChoice) return wrongValue(foundValue(value), expectation(shape));
  return wrongValue(quotedText(value), expectation(shape), nearest(value, shape.enum));
}
