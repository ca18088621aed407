/**
 * A closed description of a value, and the first thing that is wrong with a value that should fit it. Unknown keys are errors: a misspelt
 * key that is ignored leaves its default in force. Never shows the value itself except where a choice was expected.
 */
import { nearest } from "./nearest.ts";

export type Shape =
  | { readonly kind: "text" | "flag" | "function" | "object" }
  | { readonly kind: "number"; readonly whole?: boolean }
  | { readonly kind: "choice"; readonly of: readonly string[] }
  | { readonly kind: "list"; readonly of: Shape; readonly min?: number }
  | { readonly kind: "map"; readonly of: Shape | (() => Shape) }
  | { readonly kind: "group"; readonly keys: Readonly<Record<string, Key>> };

interface Key {
  readonly shape: Shape;
  readonly optional?: true;
}

/** Every key of T, so that a key which is added to the type is missing here until it is described. */
export type KeysOf<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? { readonly shape: Shape; readonly optional: true } : Key;
};

const MAX_SHOWN_CHARS = 40;

/** A sentence; null: the value fits. `name` stands before every path: "The tool tide". */
export function misfitOf(name: string, value: unknown, shape: Shape): string | null {
  const wrong = misfit("", value, shape);
  return wrong === null ? null : `${name}: ${wrong}`;
}

function misfit(path: string, value: unknown, shape: Shape): string | null {
  switch (shape.kind) {
    case "group":
      return isGroup(value) ? misfitKeys(path, value, shape.keys) : wrongKind(path, value, shape);
    case "map":
      return isGroup(value) ? misfitEntries(path, value, shape.of) : wrongKind(path, value, shape);
    case "list":
      return misfitList(path, value, shape);
    default:
      return fits(value, shape) ? null : wrongKind(path, value, shape);
  }
}

function misfitKeys(path: string, value: Group, keys: Readonly<Record<string, Key>>): string | null {
  const known = Object.keys(keys);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(keys, key));
  if (unknown !== undefined) return `${join(path, shown(unknown))} is not known. ${hint(unknown, known, path)}`;
  for (const [key, { shape, optional }] of Object.entries(keys)) {
    const below = value[key];
    if (below === undefined && optional) continue;
    if (below === undefined) return `${join(path, key)} is missing; it must be ${expected(shape)}.`;
    const wrong = misfit(join(path, key), below, shape);
    if (wrong !== null) return wrong;
  }
  return null;
}

function misfitEntries(path: string, value: Group, of: Shape | (() => Shape)): string | null {
  for (const [key, below] of Object.entries(value)) {
    const wrong = misfit(join(path, shown(key)), below, typeof of === "function" ? of() : of);
    if (wrong !== null) return wrong;
  }
  return null;
}

function misfitList(path: string, value: unknown, shape: Extract<Shape, { kind: "list" }>): string | null {
  if (!Array.isArray(value) || value.length < (shape.min ?? 0)) return wrongKind(path, value, shape);
  for (const [at, one] of value.entries()) {
    const wrong = misfit(`${path}[${at}]`, one, shape.of);
    if (wrong !== null) return wrong;
  }
  return null;
}

type Group = Readonly<Record<string, unknown>>;

/** A promise is what a forgotten `await` leaves; it has no keys of its own that would give it away. */
function isGroup(value: unknown): value is Group {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);
}

function fits(value: unknown, shape: Exclude<Shape, { kind: "group" | "map" | "list" }>): boolean {
  switch (shape.kind) {
    case "text":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "function":
      return typeof value === "function";
    case "object":
      return isGroup(value);
    case "number":
      return typeof value === "number" && value > 0 && (shape.whole ? Number.isSafeInteger : Number.isFinite)(value);
    case "choice":
      return typeof value === "string" && shape.of.includes(value);
  }
}

function wrongKind(path: string, value: unknown, shape: Shape): string {
  const what = shape.kind === "choice" && typeof value === "string" ? JSON.stringify(shown(value)) : kindOf(value);
  const close = shape.kind === "choice" && typeof value === "string" ? nearest(value, shape.of) : null;
  const guess = close === null ? "" : ` Did you mean ${JSON.stringify(close)}?`;
  return `${path === "" ? "it" : path} is ${what}; it must be ${expected(shape)}.${guess}`;
}

function expected(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "text";
    case "flag":
      return "true or false";
    case "function":
      return "a function";
    case "number":
      return shape.whole ? "a whole number above 0" : "a number above 0";
    case "choice":
      return `one of ${shape.of.map((one) => JSON.stringify(one)).join(", ")}`;
    case "list":
      return `a list${shape.min ? ` of at least ${shape.min}` : ""} in which each is ${expected(shape.of)}`;
    default:
      return "an object";
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value instanceof Promise) return "a promise";
  const kinds = { string: "text", number: "a number", boolean: "true or false", object: "an object" };
  return Object.entries(kinds).find(([type]) => type === typeof value)?.[1] ?? `a ${typeof value}`;
}

function hint(written: string, names: readonly string[], path: string): string {
  const close = nearest(written, names);
  return close === null ? `Known here: ${names.join(", ")}.` : `Did you mean ${join(path, close)}?`;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** Odd keys cannot disturb a terminal or a log. */
function shown(key: string): string {
  return key.slice(0, MAX_SHOWN_CHARS).replaceAll(/[^\x20-\x7e]/g, "?");
}
