/**
 * Typed SQL over SQLite: queries are built and compiled by Kysely, and answered at once, because the writes that share a commit must not
 * wait in the middle of it. Values always travel as parameters; there is no way to pass text into a statement from outside.
 */
/* oxlint-disable require-yield -- SQLite's answers are there at once: nothing here ever goes out to be waited for */
import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Tables } from "./schema.ts";
import type { Steps } from "./steps.ts";

export type Builder = Kysely<Tables>;

export interface Sql {
  readonly inTransaction: boolean;
  /** For queries whose shape depends on what is asked. */
  all<R>(build: (db: Builder) => Compilable<R>): Steps<R[]>;
  /** Compiled on first use and kept: the way for everything that is asked often. */
  prepare<P, R>(build: (db: Builder, p: Params<P>) => Compilable<R>): Prepared<P, R>;
  /** One of our own constant statements. */
  control(statement: Control): void;
  close(): void;
  /** Closes without folding the log into the database: a checkpoint does not look at checksums. The next process does. */
  abandon(): void;
}

export type Control =
  | "pragma synchronous = full"
  | "pragma synchronous = normal"
  | "begin immediate"
  | "commit"
  | "rollback"
  | "savepoint one_write"
  | "release one_write"
  | "rollback to one_write";

interface Compilable<R> {
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

const MAX_STATEMENTS = 200;

export function createSql(db: Database): Sql {
  const builder = createBuilder();
  const kept: Statement<unknown, SQLQueryBindings[]>[] = [];
  const statements = new Map<string, Statement<unknown, SQLQueryBindings[]>>();

  const statement = (text: string): Statement<unknown, SQLQueryBindings[]> => {
    const known = statements.get(text);
    if (known) return known;
    const oldest = statements.size < MAX_STATEMENTS ? undefined : statements.keys().next().value;
    if (oldest !== undefined) {
      statements.get(oldest)?.finalize();
      statements.delete(oldest);
    }
    const made = db.prepare<unknown, SQLQueryBindings[]>(text);
    statements.set(text, made);
    return made;
  };

  const close = (): void => {
    // a statement left open would keep the file open behind our back
    for (const made of [...kept, ...statements.values()]) made.finalize();
    statements.clear();
    db.close(true);
  };

  return {
    get inTransaction() {
      return db.inTransaction;
    },
    *all<R>(build: (db: Builder) => Compilable<R>): Steps<R[]> {
      const query = build(builder).compile();
      return statement(query.sql).all(...(query.parameters as SQLQueryBindings[])) as R[];
    },
    prepare: (build) =>
      createPrepared(builder, build, (text) => {
        const made = db.prepare<unknown, SQLQueryBindings[]>(text);
        kept.push(made);
        return made;
      }),
    control: (text) => void statement(text).run(),
    close,
    abandon() {
      // The last connection to close makes a checkpoint, and Bun closes what is left open at the end of the process. One that can only read
      // cannot make one; it stays open until then.
      const last = new Database(db.filename, { readonly: true });
      last.prepare("select count(*) from sqlite_schema").get();
      close();
    },
  };
}

function createPrepared<P, R>(
  builder: Builder,
  build: (db: Builder, p: Params<P>) => Compilable<R>,
  keep: (text: string) => Statement<unknown, SQLQueryBindings[]>,
): Prepared<P, R> {
  let made: { readonly statement: ReturnType<typeof keep>; bind(values: P): SQLQueryBindings[] } | null = null;
  const ready = () => {
    if (made) return made;
    const { text, bind } = compile(builder, build);
    made = { statement: keep(text), bind };
    return made;
  };
  return {
    *all(values) {
      const { statement, bind } = ready();
      return statement.all(...bind(values)) as R[];
    },
    *first(values) {
      const { statement, bind } = ready();
      return statement.get(...bind(values)) as R | null;
    },
    *run(values) {
      const { statement, bind } = ready();
      return statement.run(...bind(values)).changes;
    },
  };
}

/** Kysely hands parameters through untouched, so a name can travel in place of a value and tell us where the value belongs. */
interface Slot {
  readonly slot: string;
}

function compile<P, R>(builder: Builder, build: (db: Builder, p: Params<P>) => Compilable<R>) {
  const slot = (name: string): unknown => ({ slot: name }) satisfies Slot;
  const row = (...names: string[]) => Object.fromEntries(names.map((name) => [name, slot(name)]));
  const query = build(builder, Object.assign(slot, { row }) as Params<P>).compile();
  const given = query.parameters as SQLQueryBindings[];
  const places = query.parameters.flatMap((value, at) => (isSlot(value) ? [{ at, name: value.slot as keyof P }] : []));
  const bind = (values: P): SQLQueryBindings[] => {
    const bound = given.slice();
    for (const { at, name } of places) bound[at] = values[name] as SQLQueryBindings;
    return bound;
  };
  return { text: query.sql, bind };
}

function isSlot(value: unknown): value is Slot {
  return typeof value === "object" && value !== null && "slot" in value;
}

function createBuilder(): Builder {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
