/**
 * Finds any of many secrets in a text in one pass: leftmost first, of several at one place the longest. A rolling hash over the first
 * characters passes over ordinary text at a few nanoseconds a character, however many secrets there are.
 */
import type { MaskedStream } from "../../kit/secret.ts";
import { MIN_FORM_CHARS } from "./secret-forms.ts";

export interface SecretMatcher {
  /** `more`: the text may go on, so what could be the beginning of a secret is held back. */
  scan(text: string, more: boolean): { readonly clean: string; readonly held: string };
}

export const MASK = "[redacted]";
/**
 * Fewer characters than this are not held back: nearly every word ends like the beginning of some form. A secret that is cut there shows its
 * first three characters and no more.
 */
const MIN_HELD_CHARS = 4;
const BASE = 0x01000193;
/** What the character that leaves the window has been multiplied by. */
const OLDEST = Array.from({ length: MIN_FORM_CHARS - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);
/** Few enough wrong guesses that the exact lookup behind them does not count. */
const SLOTS_PER_FORM = 16;
const MIN_SLOTS = 1 << 12;

export function createSecretMatcher(forms: readonly string[]): SecretMatcher {
  const sorted = [...new Set(forms)].filter(({ length }) => length >= MIN_FORM_CHARS).sort();
  if (sorted.length === 0) return { scan: (text) => ({ clean: text, held: "" }) };
  const byKey = keyed(sorted);
  const slots = new Uint8Array(slotCount(byKey.size));
  for (const key of byKey.keys()) slots[slotOf(hashAt(key, 0), slots)] = 1;

  /** The longest form at this place; `open` when a longer one may still come of it. */
  const judge = (text: string, at: number, more: boolean): number | "open" => {
    for (const form of byKey.get(text.slice(at, at + MIN_FORM_CHARS)) ?? []) {
      if (text.startsWith(form, at)) return form.length;
      if (more && form.length > text.length - at && form.startsWith(text.slice(at))) return "open";
    }
    return 0;
  };

  return {
    scan(text, more) {
      let clean = "";
      let copied = 0;
      let at = 0;
      let hash = hashAt(text, 0);
      const last = text.length - MIN_FORM_CHARS;
      while (at <= last) {
        const found = slots[slotOf(hash, slots)] === 1 ? judge(text, at, more) : 0;
        if (found === "open") return { clean: clean + text.slice(copied, at), held: text.slice(at) };
        if (found > 0) {
          clean += text.slice(copied, at) + MASK;
          at += found;
          copied = at;
          hash = hashAt(text, at);
          continue;
        }
        hash = Math.imul(hash - Math.imul(text.charCodeAt(at), OLDEST), BASE) + text.charCodeAt(at + MIN_FORM_CHARS);
        at++;
      }
      const open = more ? beginningAt(text, at, sorted) : text.length;
      return { clean: clean + text.slice(copied, open), held: text.slice(open) };
    },
  };
}

/** Forms by their first characters, the longest first. */
function keyed(forms: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byKey = new Map<string, string[]>();
  for (const form of forms.toSorted((a, b) => b.length - a.length)) {
    const key = form.slice(0, MIN_FORM_CHARS);
    const same = byKey.get(key);
    if (same) same.push(form);
    else byKey.set(key, [form]);
  }
  return byKey;
}

/** Where, from `from` on, an ending of the text begins that is shorter than a key and is the beginning of a form. */
function beginningAt(text: string, from: number, sorted: readonly string[]): number {
  for (let at = from; at <= text.length - MIN_HELD_CHARS; at++) if (isBeginning(text.slice(at), sorted)) return at;
  return text.length;
}

/** Text in pieces. The last characters that were shown are kept in mind: a secret may begin with them. */
export function createMaskedStream(current: () => SecretMatcher): MaskedStream {
  let buffer = "";
  let shown = 0; // of the buffer, from its start on
  const step = (piece: string, more: boolean): string => {
    const text = buffer + piece;
    const { clean, held } = current().scan(text, more);
    const before = sameStart(clean, text.slice(0, shown));
    if (held !== "") {
      shown = Math.max(0, shown - (text.length - held.length));
      buffer = held;
    } else {
      const afterMask = clean.includes(MASK) ? clean.lastIndexOf(MASK) + MASK.length : 0;
      buffer = clean.slice(Math.max(afterMask, clean.length - MIN_HELD_CHARS + 1));
      shown = buffer.length;
    }
    return clean.slice(before);
  };
  return { push: (piece) => step(piece, true), flush: () => step("", false) };
}

function sameStart(a: string, b: string): number {
  let at = 0;
  while (at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function isBeginning(part: string, sorted: readonly string[]): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < part) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(part) ?? false;
}

function slotCount(keys: number): number {
  return Math.max(MIN_SLOTS, 1 << Math.ceil(Math.log2(keys * SLOTS_PER_FORM)));
}

function slotOf(hash: number, slots: Uint8Array): number {
  return (hash ^ (hash >>> 15)) & (slots.length - 1);
}

/** Of the characters from `at` on; of no meaning when there are too few. */
function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let next = at; next < at + MIN_FORM_CHARS; next++) hash = Math.imul(hash, BASE) + text.charCodeAt(next);
  return hash;
}
