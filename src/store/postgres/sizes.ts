/** How many rows each table of a Postgres database has, how much room they take, and from when the oldest is. */
import { sql as raw } from "kysely";
import type { DatabaseSizes, TableSize } from "../../contracts/store/retention.ts";
import { GROWING_POSTGRES_TABLES } from "../sizes.ts";
import type { Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

export function* postgresSizes(sql: Sql): Steps<DatabaseSizes> {
  const tables: TableSize[] = [];
  for (const [table, column] of Object.entries(GROWING_POSTGRES_TABLES)) {
    const oldest = column === null ? raw`null::bigint` : raw`min(${raw.ref(column)})`;
    const [size] = yield* sql.all<Omit<TableSize, "table">>((db) => ({
      compile: () =>
        raw<Omit<TableSize, "table">>`
          select count(*) as rows, pg_total_relation_size(${table}::regclass) as bytes, ${oldest} as "oldestAt"
          from ${raw.table(table)}`.compile(db),
    }));
    if (size) tables.push({ table, ...size });
  }
  const [whole] = yield* sql.all<{ bytes: number }>((db) => ({
    compile: () => raw<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.compile(db),
  }));
  return { bytes: whole?.bytes ?? 0, tables };
}
