/** SQL whose queries go out to whoever can answer them, and come back with their answers: over a connection, or from another thread. */
import { type DialectAdapter, DummyDriver, Kysely, type DatabaseIntrospector, type QueryCompiler } from "kysely";
import type { Dialect } from "../dialect.ts";
import type { Tables } from "../schema.ts";
import { compileText, type Prepared, type Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

interface OutgoingOptions {
  readonly dialect: Dialect;
  readonly adapter: DialectAdapter;
  readonly compiler: QueryCompiler;
  introspect(db: Kysely<never>): DatabaseIntrospector;
}

export function createOutgoingSql({ dialect, adapter, compiler, introspect }: OutgoingOptions): Sql {
  const builder = new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => introspect(db as Kysely<never>),
      createQueryCompiler: () => compiler,
    },
  });
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
    dialect,
    prepare,
    *all(build): Steps<never[]> {
      const { sql: text, parameters: values } = build(builder).compile();
      return (yield { text, values, name: null }).rows as never[];
    },
  };
}
