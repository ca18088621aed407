/**
 * Bugs on purpose, one line of the product each, and how one is put into a text: by name of the function and by tokens of code, so that a
 * change of layout or a line added above does not matter. A bug that fits nowhere, twice, or changes nothing is refused with the reason.
 */
import { lineAt } from "../../test/house-source.ts";
import { type Token, tokensOf } from "./code-tokens.ts";
import { type NamedCode, namedCode, namedLike } from "./named-code.ts";
import { nearestCode, nearestNames } from "./nearest.ts";

export interface CodeChange {
  /** A sentence: what is wrong with the bug in place. */
  readonly what: string;
  /** From the root of the project. */
  readonly file: string;
  /** The function that the code is in, or what the file declares at its top level; `outer.inner` where a name occurs twice. */
  readonly in: string;
  /** Code, whole tokens of it, that is in the function once. Its layout does not matter. */
  readonly find: string;
  readonly replace: string;
}

/** A bug that tests should notice: `npm run mutants`. */
export interface SeededBug extends CodeChange {
  /** The tests that should notice: files or folders, from the root of the project. */
  readonly tests: readonly string[];
}

/** A bug that the simulation should notice: `npm run sim -- --mutants`. */
export interface SimulatedBug extends CodeChange {
  /** The first seed that shows it, where none of the first few hundred does. */
  readonly seed?: number;
  /** Shows with the shipped pool (`--pool`). */
  readonly pool?: true;
}

export interface MutantRoom {
  readonly room: string;
  readonly bugs: readonly SeededBug[];
}

/** `text`: the file with the bug in it. `why`: a sentence for whoever has to repair the list. */
export type WithBug = { readonly text: string; readonly why: null } | { readonly text: null; readonly why: string };

interface Match {
  readonly start: number;
  readonly end: number;
}

export function withBug(text: string, bug: CodeChange): WithBug {
  const all = namedCode(text);
  const homes = namedLike(all, bug.in);
  const tokens = tokensOf(text);
  const wanted = tokensOf(bug.find);
  const matches = matchesIn(tokens, wanted);
  const inside = matches.filter((match) => homes.some((home) => home.start <= match.start && match.end <= home.end));
  const [only] = inside;
  const refuse = (reason: string): WithBug => ({ text: null, why: `${bug.file}: "${bug.what}" ${reason}` });
  if (wanted.length === 0) return refuse("has no code to find.");
  if (homes.length === 0)
    return refuse(
      `is in ${bug.in}, and the file has no such function. ${elsewhere(text, matches, all) ?? nearestNames(all, bug.in)}`,
    );
  if (!only) {
    const hint = elsewhere(text, matches, all) ?? nearestCode(text, tokensInside(tokens, homes), wanted);
    return refuse(`changes \`${bug.find}\`, and ${bug.in} has no such code. ${hint}`);
  }
  if (inside.length > 1) {
    const lines = inside.map(({ start }) => lineAt(text, start)).join(", ");
    return refuse(
      `changes \`${bug.find}\`, which ${bug.in} has ${inside.length} times (lines ${lines}). Add code around it.`,
    );
  }
  const changed = text.slice(0, only.start) + bug.replace + text.slice(only.end);
  if (sameCode(tokensOf(changed), tokens)) return refuse("replaces its code by the same code.");
  return { text: changed, why: null };
}

function tokensInside(tokens: readonly Token[], homes: readonly NamedCode[]): readonly Token[] {
  return tokens.filter((token) => homes.some(({ start, end }) => start <= token.start && token.end <= end));
}

/** Where else in the file the code is; null: nowhere. */
function elsewhere(text: string, matches: readonly Match[], all: readonly NamedCode[]): string | null {
  if (matches.length === 0) return null;
  const places = matches.map(({ start }) => {
    const around = all.filter((one) => one.start <= start && start < one.end).toSorted((a, b) => b.start - a.start);
    return `${around[0]?.name ?? "no function"} (line ${lineAt(text, start)})`;
  });
  return `That code is in ${places.join(" and ")} now.`;
}

/** A comma at the end of what is looked for may be one that only some layouts have. */
function matchesIn(tokens: readonly Token[], wanted: readonly Token[]): readonly Match[] {
  const comma = wanted.length > 1 && wanted.at(-1)?.value === ",";
  const core = comma ? wanted.slice(0, -1) : wanted;
  return tokens.flatMap((first, at) => {
    const last = tokens[at + core.length - 1];
    if (!last || !core.every(({ value }, index) => tokens[at + index]?.value === value)) return [];
    if (!comma) return [{ start: first.start, end: last.end }];
    const next = tokens[at + core.length];
    if (next?.value === ",") return [{ start: first.start, end: next.end }];
    return next && ")]}".includes(next.value) ? [{ start: first.start, end: next.start }] : [];
  });
}

function sameCode(one: readonly Token[], other: readonly Token[]): boolean {
  return one.length === other.length && one.every(({ value }, at) => value === other[at]?.value);
}
