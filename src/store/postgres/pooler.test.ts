/** A real PgBouncer between a gateway's store and real Postgres, where it is installed. */
import { describe, expect, test } from "bun:test";
import { isGatewayError } from "../../contracts/errors.ts";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { systemIds } from "../../kit/ids.ts";
import { secret } from "../../kit/secret.ts";
import { OPERATOR, row } from "../../testing/contracts/store/store-world.ts";
import { note } from "../../testing/contracts/store/notes-contract.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { type PoolMode, poolerProgram, startPooler } from "../../testing/postgres/pooler.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../open.ts";
import { checkDatabase } from "./check-database.ts";
import { connect } from "./connection.ts";

const program = poolerProgram();
const DEPS = { clock: systemClock, ids: systemIds, log: recordingLog() };

describe.skipIf(program === null || (await testPostgres()) === null)("Postgres behind PgBouncer", () => {
  const start = (url: string, mode: PoolMode) => startPooler(program ?? "", url, mode);

  test("in session mode the store works, gateways hear each other, and doctor says that a pooler is there", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using pooler = await start(database.url, "session");
    await using one = await tempHome();
    await using two = await tempHome();
    const options = { url: secret(pooler.url), shared: secret("the-same-secret-for-both-7f3kQ9xZ") };
    await using first = await openStore(DEPS, { home: one.path, ...options });
    await using second = await openStore(DEPS, { home: two.path, ...options });
    await first.inbox.accept(row(systemIds.next("in"), "a"));
    await first.notes.save(note());
    expect(await first.inbox.unfinished()).toHaveLength(1);
    expect((await second.notes.search(OPERATOR, "milk", 5)).length).toBe(1);
    const heard = deferred<string>();
    using _hears = second.letters.onLetter(({ body }) => heard.resolve(body));
    first.letters.send({ to: null, kind: "test", body: '"hello"' });
    expect(await heard.promise).toBe('"hello"');
    const findings = await checkDatabase(DEPS, options.url);
    expect(findings.filter(({ state }) => state === "broken")).toEqual([]);
    expect(findings.map(({ say }) => say)).toContain("by way of a pooler, in session mode");
  });

  test("a connection knows the process of the server that serves it, and not the number that the pooler made up", async () => {
    await using database = await createTestDatabase();
    await using pooler = await start(database.url, "session");
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const connection = await connect({ clock: systemClock, url: pooler.url });
    const known: { pid: number }[] = await sql`select pid from pg_stat_activity where datname = current_database()`;
    expect(known.map(({ pid }) => pid)).toContain(connection.pid);
    expect(connection.isPooled).toBe(true);
    await connection.close();
    const direct = await connect({ clock: systemClock, url: database.url });
    expect(direct.isPooled).toBe(false);
    await direct.close();
  });

  test.each(["transaction", "statement"] as const)(
    "in %s mode the store refuses with a sentence that says what to do, and writes nothing",
    async (mode) => {
      await using database = await createTestDatabase();
      await using pooler = await start(database.url, mode);
      await using home = await tempHome();
      const url = secret(pooler.url);
      const error = await openStore(DEPS, { home: home.path, url }).catch((failure: unknown) => failure);
      expect(isGatewayError(error) && [error.code, error.say]).toEqual([
        "store_failed",
        expect.stringContaining("the pooler in session mode (Supabase: port 5432)"),
      ]);
      expect(isGatewayError(error) && error.say).not.toContain(new URL(pooler.url).password);
      await using sql = new Bun.SQL(database.url, { max: 1 });
      expect(await sql`select 1 from pg_tables where schemaname = 'public'`).toHaveLength(0);
      expect(await checkDatabase(DEPS, url)).toContainEqual({
        state: "broken",
        say: expect.stringContaining("a pooler in transaction mode is in between") as string,
      });
    },
  );

  test("a program behind a pooler in transaction mode sees the rows of its person, for as long as its transaction", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using home = await tempHome();
    await using store = await openStore(DEPS, { home: home.path, url: secret(database.url) });
    await store.notes.save(note());
    await using pooler = await start(database.url, "transaction");
    await using owner = new Bun.SQL(database.url, { max: 1 });
    const role = systemIds.next("program");
    await owner.unsafe(`create role ${role}; grant select on notes to ${role}; grant ${role} to postgres`);
    await using sql = new Bun.SQL(pooler.url, { max: 2, prepare: false });
    const seenAs = (person: string): Promise<number> =>
      sql.begin(async (transaction) => {
        await transaction.unsafe(`set local role ${role}`).simple();
        if (person !== "") await transaction.unsafe(`set local pi_gateway.person = '${person}'`).simple();
        const [seen] = await transaction.unsafe("select count(*)::int as rows from notes").simple();
        return (seen as { rows: number }).rows;
      });
    expect(await seenAs(OPERATOR)).toBe(1);
    expect(await seenAs("")).toBe(0);
    await owner.unsafe(`drop owned by ${role}; drop role ${role}`);
  });
});
