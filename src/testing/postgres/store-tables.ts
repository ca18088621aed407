/** A database with the tables of the store, which tests begin with. */
import { systemClock } from "../../kit/clock.ts";
import { connect } from "../../store/postgres/connection.ts";
import { migratePostgres } from "../../store/postgres/migrate.ts";
import type { DatabaseTemplate } from "./database.ts";

export const STORE_TABLES: DatabaseTemplate = {
  name: "store",
  async prepare(url) {
    const connection = await connect({ clock: systemClock, url });
    await migratePostgres(connection, 0);
    await connection.close();
  },
};
