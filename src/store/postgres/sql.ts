/** SQL over Postgres: each query goes out to whoever has a connection, and comes back with its answer. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { postgresDialect } from "../dialect.ts";
import type { Tables } from "../schema.ts";
import { type Builder, compileText, type Prepared, type Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

export function createPostgresSql(): Sql {
  const builder = createBuilder();
  let statements = 0;

  function prepare<P, R>(build: Parameters<typeof compileText<P, R>>[1]): Prepared<P, R> {
    let made: (ReturnType<typeof compileText<P, R>> & { readonly name: string }) | null = null;
    /** A connection has the statement parsed once and knows it by its name. */
    const queryOf = (values: P) => {
      made ??= { ...compileText(builder, build), name: `gateway_${++statements}` };
      return { text: made.text, values: made.bind(values), name: made.name };
    };
    return {
      *all(values) {
        return (yield queryOf(values)).rows as R[];
      },
      *first(values) {
        return ((yield queryOf(values)).rows[0] ?? null) as R | null;
      },
      *run(values) {
        return (yield queryOf(values)).count;
      },
    };
  }

  return {
    dialect: postgresDialect,
    prepare,
    *all(build): Steps<never[]> {
      const { sql: text, parameters: values } = build(builder).compile();
      return (yield { text, values, name: null }).rows as never[];
    },
  };
}

function createBuilder(): Builder {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}
