/** A database with the tables of the store, which tests begin with, and the function `blank()`, which empties it between two tests. */
import { systemClock } from "../../kit/clock.ts";
import { connect } from "../../store/postgres/connection.ts";
import { migratePostgres, POSTGRES_MIGRATIONS } from "../../store/postgres/migrate.ts";
import type { DatabaseTemplate } from "./database.ts";

/** Openings, writers and the ends of the audit chain: a gateway that stays open goes on with them. */
const KEPT = ["migrations", "meta", "batches", "nodes", "audit_marks"];

/**
 * The statements stand in the function, and not in a loop, because their plans are kept then: the tables are empty after a millisecond.
 * `replica` leaves the order of tables and their triggers out.
 */
const MAKE_BLANK_FUNCTION = `
  do $make$
  declare deletes text;
  begin
    select string_agg(format('delete from public.%I;', tablename), ' ') into deletes
      from pg_tables where schemaname = 'public' and tablename not in (${KEPT.map((name) => `'${name}'`).join(", ")});
    execute format(
      'create function blank() returns void language plpgsql set session_replication_role = replica as $f$ begin %s end $f$',
      deletes);
  end $make$;
`;

/** A server may outlive a change of the tables. */
const VERSION = Bun.hash([...POSTGRES_MIGRATIONS.map(({ sql }) => sql), MAKE_BLANK_FUNCTION].join()).toString(36);

export const STORE_TABLES: DatabaseTemplate = {
  name: `store_${VERSION}`,
  async prepare(url) {
    const connection = await connect({ clock: systemClock, url });
    await migratePostgres(connection, { at: 0 });
    await connection.control(MAKE_BLANK_FUNCTION);
    await connection.close();
  },
};
