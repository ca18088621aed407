/** Finds the functions and the declarations of a file by name, so that a seeded bug can say where it belongs without naming lines. */
import { functionsOf, source } from "../../test/house-source.ts";

export interface NamedCode {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const DECLARED =
  /^(?:export\s+)?(?:abstract\s+)?(?:const|let|(?:async\s+)?function\*?|class|interface|type)\s+([\w$]+)/gm;
/** A line that begins a new statement, in formatted code. */
const NEXT_STATEMENT = /^[^\s)\]}>`]/gm;
/** What stands before an arrow function without a name. */
const NO_NAMES = new Set(["(unnamed)", "async", "function"]);

/** Everything with a name: functions with a body, nested ones included, and whatever a file declares at its top level. */
export function namedCode(text: string): readonly NamedCode[] {
  const file = source("", text);
  const declared = [...file.code.matchAll(DECLARED)].map(({ index, 0: head, 1: name = "" }) => {
    NEXT_STATEMENT.lastIndex = index + head.length;
    return { name, start: index, end: NEXT_STATEMENT.exec(file.code)?.index ?? text.length };
  });
  const nested = functionsOf(file)
    .filter(({ name }) => !NO_NAMES.has(name))
    .filter(({ name, start }) => !declared.some((one) => one.name === name && encloses(one, start)))
    .map(({ name, start, end }) => ({ name, start, end }));
  return [...declared, ...nested];
}

/** All that `path` names: `close` is any of that name, `openStore.close` one inside of `openStore`. */
export function namedLike(all: readonly NamedCode[], path: string): readonly NamedCode[] {
  const [name = "", ...outer] = path.split(".").toReversed();
  return all.filter((one) => one.name === name && outer.every((part) => isInside(all, one, part)));
}

function isInside(all: readonly NamedCode[], one: NamedCode, name: string): boolean {
  return all.some((other) => other.name === name && other !== one && encloses(other, one.start));
}

function encloses({ start, end }: NamedCode, at: number): boolean {
  return start <= at && at < end;
}
