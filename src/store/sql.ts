/**
 * Typed SQL as row code sees it, the same over both engines: queries are built and compiled by Kysely, and run step by step. Values always
 * travel as parameters; there is no way to pass text into a statement from outside.
 */
import type { CompiledQuery, Kysely } from "kysely";
import type { Dialect } from "./dialect.ts";
import type { Tables } from "./schema.ts";
import type { Steps } from "./steps.ts";

export type Builder = Kysely<Tables>;

export interface Sql {
  readonly dialect: Dialect;
  /** For queries whose shape depends on what is asked. */
  all<R>(build: (db: Builder) => Compilable<R>): Steps<R[]>;
  /** Compiled on first use and kept: the way for everything that is asked often. */
  prepare<P, R>(build: (db: Builder, p: Params<P>) => Compilable<R>): Prepared<P, R>;
}

export interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

/** Stands for a value that is given when the query runs. */
export interface Params<P> {
  <K extends keyof P & string>(name: K): P[K];
  /** Several at once, in the form of a row to insert. */
  row<K extends keyof P & string>(...names: readonly K[]): Pick<P, K>;
}

export interface Prepared<P, R> {
  all(values: P): Steps<R[]>;
  first(values: P): Steps<R | null>;
  /** The number of rows it changed. */
  run(values: P): Steps<number>;
}

/** Kysely hands parameters through untouched, so a name can travel in place of a value and tell us where the value belongs. */
interface Slot {
  readonly slot: string;
}

interface PreparedText<P> {
  readonly text: string;
  bind(values: P): unknown[];
}

export function compileText<P, R>(
  builder: Builder,
  build: (db: Builder, p: Params<P>) => Compilable<R>,
): PreparedText<P> {
  const slot = (name: string): unknown => ({ slot: name }) satisfies Slot;
  const row = (...names: string[]) => Object.fromEntries(names.map((name) => [name, slot(name)]));
  const query = build(builder, Object.assign(slot, { row }) as Params<P>).compile();
  const given = query.parameters;
  const places = query.parameters.flatMap((value, at) => (isSlot(value) ? [{ at, name: value.slot as keyof P }] : []));
  const bind = (values: P): unknown[] => {
    const bound = given.slice();
    for (const { at, name } of places) bound[at] = values[name];
    return bound;
  };
  return { text: query.sql, bind };
}

function isSlot(value: unknown): value is Slot {
  return typeof value === "object" && value !== null && "slot" in value;
}
