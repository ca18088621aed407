/** Bugs on purpose outside the simulation, one line each. `npm run mutants` puts them into a copy, one by one, and runs the tests named. */

export interface SeededBug {
  /** A sentence: what is wrong with the bug in place. */
  readonly what: string;
  /** From the root of the project. */
  readonly file: string;
  /** Matches once in the file. */
  readonly find: string | RegExp;
  readonly replace: string;
  /** The tests that should notice: files or folders, from the root of the project. */
  readonly tests: readonly string[];
}

export interface MutantRoom {
  readonly room: string;
  readonly bugs: readonly SeededBug[];
}

/** The text with the bug in it; null: the bug does not fit the text any more, or fits it twice. */
export function withBug(text: string, { find, replace }: Pick<SeededBug, "find" | "replace">): string | null {
  const matches = typeof find === "string" ? text.split(find).length - 1 : [...text.matchAll(globally(find))].length;
  if (matches !== 1) return null;
  const changed = text.replace(find, () => replace);
  return changed === text ? null : changed;
}

function globally(find: RegExp): RegExp {
  return new RegExp(find.source, find.flags.includes("g") ? find.flags : `${find.flags}g`);
}
