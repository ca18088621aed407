/** SQL over Postgres: each query goes out to whoever has a connection, and comes back with its answer. */
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { postgresDialect } from "../dialect.ts";
import { createOutgoingSql } from "../searches/outgoing-sql.ts";
import type { Sql } from "../sql.ts";

export function createPostgresSql(): Sql {
  return createOutgoingSql({
    dialect: postgresDialect,
    adapter: new PostgresAdapter(),
    compiler: new PostgresQueryCompiler(),
    introspect: (db) => new PostgresIntrospector(db),
  });
}
