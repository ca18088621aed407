/** Gateways of two versions on one Postgres database, while they are updated one after the other. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { row } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";
import { connect } from "./connection.ts";
import { migratePostgres, POSTGRES_MIGRATIONS } from "./migrate.ts";

const OLD = "0.1.0";
const NEW = "0.2.0";
/** What a later version might bring. */
const ADDS = { name: "later-adds", sql: "alter table inbox add column later text" };
const TAKES = { name: "later-takes", sql: "alter table nodes add column later text", worksFrom: NEW };

async function world() {
  await using building = new AsyncDisposableStack();
  const home = building.use(await tempHome());
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const sql = building.use(new Bun.SQL(database.url, { max: 1 }));
  const connection = await connect({ clock: systemClock, url: database.url });
  building.defer(() => connection.close());
  const deps = { clock: systemClock, ids: createSeqIds(), log: recordingLog() };
  const rest = building.move();
  return {
    sql,
    openOld: () => openStore(deps, { home: home.path, url: secret(database.url), version: OLD }),
    /** The first thing that a gateway of the later version does. */
    beginNew: () =>
      migratePostgres(connection, { at: 0, version: NEW, migrations: [...POSTGRES_MIGRATIONS, ADDS, TAKES] }),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

describe.skipIf((await testPostgres()) === null)("a newer version", () => {
  test("that starts beside an older one adds to the tables and takes nothing away, and the older one works on and starts again", async () => {
    await using fx = await world();
    const before = await fx.openOld();
    expect(await fx.beginNew()).toEqual({ applied: [ADDS.name], waiting: [TAKES.name] });
    await before.inbox.accept(row("in1", "a"));
    await before[Symbol.asyncDispose]();
    await using after = await fx.openOld();
    expect((await after.inbox.unfinished()).map(({ id }) => id)).toEqual(["in1"] as never);
    expect(await fx.beginNew()).toEqual({ applied: [], waiting: [TAKES.name] });
  });

  test("that starts when no older one lives takes away what nobody uses, and an older one is refused in a sentence then", async () => {
    await using fx = await world();
    await (await fx.openOld())[Symbol.asyncDispose]();
    expect(await fx.beginNew()).toEqual({ applied: [ADDS.name, TAKES.name], waiting: [] });
    const refused = await fx.openOld().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "store_newer",
      say: expect.stringMatching(/\(its migration later-takes works from version 0\.2\.0 on\)\. Nothing was changed\./),
    });
    expect(await fx.sql`select id from nodes where state <> 'gone'`).toHaveLength(0);
  });

  test("that did not see an older one start at the same moment is noticed by it, and the older one leaves", async () => {
    await using fx = await world();
    await (await fx.openOld())[Symbol.asyncDispose]();
    await fx.beginNew(); // nobody lives: all is applied
    await fx.sql`delete from migrations where name = ${TAKES.name}`;
    await fx.sql.unsafe(`
      create function at_the_same_moment() returns trigger language plpgsql security definer as $$ begin
        insert into migrations (name, applied_at, works_from) values ('${TAKES.name}', 0, '${NEW}');
        return new;
      end $$;
      create trigger meanwhile after insert on nodes for each row execute function at_the_same_moment()`);
    expect(await fx.openOld().catch((error: unknown) => error)).toMatchObject({ code: "store_newer" });
    expect(await fx.sql`select id from nodes where state <> 'gone'`).toHaveLength(0);
  });
});
