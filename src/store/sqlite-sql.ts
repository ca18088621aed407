/**
 * SQL over SQLite: each query is answered at once, because the writes that share a commit must not wait in the middle of it.
 */
/* oxlint-disable require-yield -- SQLite's answers are there at once: nothing here ever goes out to be waited for */
import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { sqliteDialect } from "./dialect.ts";
import type { Tables } from "./schema.ts";
import { type Builder, type Compilable, compileText, type Params, type Prepared, type Sql } from "./sql.ts";
import type { Steps } from "./steps.ts";

export interface SqliteSql extends Sql {
  readonly inTransaction: boolean;
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

const MAX_STATEMENTS = 200;

export function createSql(db: Database): SqliteSql {
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
    dialect: sqliteDialect,
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
    const { text, bind } = compileText(builder, build);
    made = { statement: keep(text), bind: (values) => bind(values) as SQLQueryBindings[] };
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
