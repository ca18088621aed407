/**
 * The sentences about a value that does not fit its schema: the same for settings, parameters of tools and registrations of plugins. Each
 * follows the path of the value: "gateway.port" + "is true; it must be a whole number from 0 to 65535."
 */
import { counted } from "../counted.ts";

const MAX_TEXT_CHARS = 60;
const MAX_KEY_CHARS = 64;
const MAX_LISTED_NAMES = 40;
const PLAIN_KEY = /^[A-Za-z0-9_$-]{1,64}$/;

/** `found` null: the kind is right, and showing more of it could show a secret. */
export function wrongValue(found: string | null, expected: string, nearest: string | null = null): string {
  const must = found === null ? `must be ${expected}.` : `is ${found}; it must be ${expected}.`;
  return nearest === null ? must : `${must} Did you mean ${JSON.stringify(nearest)}?`;
}

/** `expected` null: nothing is known about the value but that it has to be there. */
export function missingValue(expected: string | null): string {
  return expected === null ? "is missing." : `is missing; it must be ${expected}.`;
}

/** `is`: "not a setting". Without a nearest name, those that could be meant are listed. */
export function unknownKey(is: string, nearest: string | null, names: readonly string[] = []): string {
  if (nearest !== null) return `is ${is}. Did you mean ${nearest}?`;
  if (names.length === 0) return `is ${is}.`;
  const more = names.length > MAX_LISTED_NAMES ? ", …" : ".";
  return `is ${is}. Known here: ${names.slice(0, MAX_LISTED_NAMES).join(", ")}${more}`;
}

/** What a value is, without the contents of a text: it may be a secret. */
export function foundValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${counted(value.length, "item")}`;
  if (value instanceof Promise) return "a promise"; // what a forgotten `await` leaves
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** `a.b`, and `a."odd name"`: a path can be read in one way only, and no key can disturb a terminal or a log. */
export function joinPath(parent: string, key: string): string {
  const shown = PLAIN_KEY.test(key) ? key : quotedText(key, MAX_KEY_CHARS);
  return parent === "" ? shown : `${parent}.${shown}`;
}

/** A text in quotes, cut, and without characters that are not seen or change the direction of a line. */
export function quotedText(text: string, maxChars = MAX_TEXT_CHARS): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return JSON.stringify(cut).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}
