/** A gateway that starts when the database has just come back: others could not renew, and are not taken over from for that. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql as raw } from "kysely";
import type { InstanceId } from "../../contracts/ids.ts";
import { systemClock } from "../../kit/clock.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { NODE_EXPIRY_MS } from "../node-expiry.ts";
import { createNodeRow } from "../rows/nodes.ts";
import { runWaiting } from "../steps.ts";
import { connect } from "./connection.ts";
import { createPostgresSql } from "./sql.ts";

setDefaultTimeout(30_000);

async function world() {
  await using building = new AsyncDisposableStack();
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const connection = await connect({ clock: systemClock, url: database.url });
  building.defer(() => connection.close());
  const rest = building.move();
  const sql = createPostgresSql();
  return {
    /** Starts a gateway on a server that has answered for so long. */
    async begin(name: string, upMs: number): Promise<unknown> {
      const upSince = raw<number>`(${sql.dialect.now} - ${upMs}::bigint)`;
      const { begin } = createNodeRow({ ...sql, dialect: { ...sql.dialect, upSince } }, name as InstanceId);
      const identity = { name, version: "1.2.3", stateDirectory: name, keyId: "same" };
      return runWaiting(begin(identity), connection.ask);
    },
    /** None of them was heard of since the database was away. */
    silence: () => connection.control("update nodes set renewed_at = 0, expires_at = 0"),
    async states(): Promise<unknown> {
      const { rows } = await connection.ask({
        text: "select id, state from nodes order by id",
        values: [],
        name: null,
      });
      return Object.fromEntries(
        (rows as { readonly id: string; readonly state: string }[]).map(({ id, state }) => [id, state]),
      );
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

describe.skipIf((await testPostgres()) === null)("a start after an outage of Postgres", () => {
  test("a gateway that could not renew while the database was away is not taken over from by a start right after it", async () => {
    await using fx = await world();
    await fx.begin("a", 0);
    await fx.silence();
    await fx.begin("b", NODE_EXPIRY_MS / 2);
    expect(await fx.states()).toEqual({ a: "live", b: "live" });
  });

  test("a gateway that was not heard of for one lease time since the database is back is taken over from", async () => {
    await using fx = await world();
    await fx.begin("a", 0);
    await fx.silence();
    await fx.begin("b", NODE_EXPIRY_MS);
    expect(await fx.states()).toEqual({ a: "gone", b: "live" });
  });
});
