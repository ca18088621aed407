/**
 * No step of the store's row code is forgotten: a query, or a function made of queries, does nothing without `yield*` before its call, and
 * the compiler cannot tell where the result is not used, or only asked whether it is there. Types are not known here, so the rule goes by
 * names: those of queries (`first`, `all`, `run`), and those that are declared to return steps.
 */
import { lineAt, type Source } from "./house-source.ts";
import { isTest } from "./house.ts";

/** Parts that row code is made of; the engines below them answer the queries. */
const ROW_CODE = /^src\/store\/(?:rows|tool-calls|audit|activity)\/|^src\/store\/starts\.ts$/;
const QUERIES = ["first", "all", "run"];
/** Runs the steps, or hands them on: `read(() => part.first({ id }))`. What is awaited is a promise, and none of the steps. */
const HANDED_ON = /(?:\byield\*|\bawait|=>)\s*\(?$/;
const SAY = "does nothing without yield* before it";

export function forgottenSteps(sources: readonly Source[]): string[] {
  const rows = sources.filter(
    ({ path, code }) => ROW_CODE.test(path) && !isTest(path) && /\bSteps\b|yield\*/.test(code),
  );
  const methods = new Set([...QUERIES, ...rows.flatMap(({ code }) => namesIn(code, METHODS))]);
  const made = new Set(rows.flatMap(({ code }) => namesIn(code, FACTORIES)));
  return rows.flatMap((file) => {
    const functions = new Set([...namesIn(file.code, FUNCTIONS), ...madeBy(file.code, made)]);
    return callsIn(file.code)
      .filter(({ receiver, name }) => (receiver === "" ? functions : methods).has(name))
      .filter(({ receiver }) => receiver === "" || !isCollection(file.code, receiver))
      .filter(({ at }) => !HANDED_ON.test(file.code.slice(0, at)))
      .map(({ at, receiver, name }) => `${file.path}:${lineAt(file.code, at)} ${receiver}${name}() ${SAY}`);
  });
}

/** Functions of a file: `function* add(…)`, and parameters and fields of a type that ends in steps. */
const FUNCTIONS = [/\bfunction\* (\w+)/g, /\b(\w+): \([^)]*\) => Steps</g];
/** Methods, wherever they are declared: `append(…): Steps<Link>`, `*append(…) {`. */
const METHODS = [/\b(\w+)\([^()]*(?:\([^()]*\)[^()]*)*\): Steps</g, /^\s*\*(\w+)\(/gm];
/** Functions that return a function of steps. */
const FACTORIES = [/\bfunction (\w+)\([^{]*\): \([^)]*\) => Steps</g];

function namesIn(code: string, patterns: readonly RegExp[]): string[] {
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].flatMap(([, name]) => name ?? []));
}

function madeBy(code: string, factories: ReadonlySet<string>): string[] {
  return [...code.matchAll(/\bconst (\w+) = (\w+)\(/g)].flatMap(([, name = "", factory = ""]) =>
    factories.has(factory) ? [name] : [],
  );
}

interface Call {
  /** Where the expression begins. */
  readonly at: number;
  /** With its last dot; empty for a plain function. */
  readonly receiver: string;
  readonly name: string;
}

/** Calls of plain functions and of methods. A name before a colon or after `function` is a declaration. */
function callsIn(code: string): Call[] {
  return [...code.matchAll(/(?<![\w.$*])((?:\w+\.)*)(\w+)\(/g)].flatMap(({ index, 1: receiver = "", 2: name = "" }) =>
    isDeclaration(code, index) ? [] : [{ at: index, receiver, name }],
  );
}

/** A function, or a method of an interface or of an object: behind `function` or `async`, or followed by a type. */
function isDeclaration(code: string, at: number): boolean {
  if (/\b(?:function\*?|async) $/.test(code.slice(0, at))) return true;
  return /(?:^|\n)\s*$/.test(code.slice(0, at)) && /^\w+\([^)]*\): /.test(code.slice(at));
}

/** Sets, maps and lists have methods of the same names. */
function isCollection(code: string, receiver: string): boolean {
  const name = receiver.slice(0, -1);
  return (
    name === "Promise" || new RegExp(`\\b${name}(?:: [^=\\n]+)? = (?:new (?:Set|Map)\\b|\\[|\\w+\\.get\\()`).test(code)
  );
}
