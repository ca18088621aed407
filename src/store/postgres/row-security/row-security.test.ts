/** Row level security on real Postgres: who sees what, whatever rights on tables somebody was given. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../../kit/clock.ts";
import { systemIds } from "../../../kit/ids.ts";
import { secret } from "../../../kit/secret.ts";
import { createChance } from "../../../testing/chance.ts";
import { OPERATOR, row } from "../../../testing/contracts/store/store-world.ts";
import { note } from "../../../testing/contracts/store/notes-contract.ts";
import { createTestDatabase, testPostgres } from "../../../testing/postgres/database.ts";
import { fillForPeople } from "../../../testing/postgres/filled-tables.ts";
import { STORE_TABLES } from "../../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { tempHome } from "../../../testing/temp-home.ts";
import { openStore } from "../../open.ts";
import { OWN_ROWS, UNSECURED_TABLES } from "./own-rows.ts";

const PEOPLE = Array.from({ length: 12 }, (_, index) => `person-${index}`);
/** Of a group, whose rows are no single person's. */
const NOBODY = "person-none";
const OPERATIONS = ["select", "update", "delete", "insert"] as const;
const CASES = 10_000;
/** Somebody who has every right on every table. */
const ROLE = systemIds.next("somebody");

/**
 * Does one thing as this person, with every right on every table, and counts the rows of others that it read, or any that it wrote. A row is
 * somebody's if their name is in any of its columns. What is denied counts as nothing.
 */
const tryFunction = (role: string): string => `
  create function testing.try_case(person text, tab text, operation text, foreign_row jsonb) returns bigint language plpgsql as $$
  declare
    found bigint := 0;
    columns text := (select string_agg(quote_ident(key), ', ') from jsonb_object_keys(foreign_row) as key);
    one text := (select quote_ident(key) from jsonb_object_keys(foreign_row) as key limit 1);
    own text := case when person = '' then 'nobody at all' else person || '(?![0-9])' end;
  begin
    perform set_config('pi_gateway.person', person, true), set_config('role', '${role}', true);
    begin
      case operation
        when 'select' then
          execute format($f$select count(*) from %I as r where regexp_replace(to_jsonb(r)::text, $1, '', 'g') ~ 'person-'$f$, tab)
            into found using own;
        when 'insert' then
          execute format('insert into %I (%s) select %s from jsonb_populate_record(null::%I, $1)', tab, columns, columns, tab)
            using foreign_row;
          get diagnostics found = row_count;
        when 'update' then
          execute format('update %I set %s = %s', tab, one, one);
          get diagnostics found = row_count;
        when 'delete' then
          execute format('delete from %I', tab);
          get diagnostics found = row_count;
      end case;
    exception when insufficient_privilege then found := 0;
    end;
    perform set_config('role', 'none', true);
    return found;
  end $$`;

describe.skipIf((await testPostgres()) === null)("row level security", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let sql: Bun.SQL;
  beforeAll(async () => {
    database = await createTestDatabase(STORE_TABLES);
    await open(database.url);
    sql = new Bun.SQL(database.url, { max: 1 });
    await sql.unsafe(`create role ${ROLE}`);
    await sql.unsafe(
      `grant all on all tables in schema public to ${ROLE}; grant all on all sequences in schema public to ${ROLE}`,
    );
    await fillForPeople(sql, PEOPLE, NOBODY);
    await sql.unsafe(tryFunction(ROLE));
  });
  afterAll(async () => {
    await sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`);
    await sql.close();
    await database[Symbol.asyncDispose]();
  });

  /** As a gateway does, which makes the policies. */
  async function open(url: string, log = recordingLog()): Promise<typeof log> {
    await using home = await tempHome();
    await using store = await openStore(
      { clock: systemClock, ids: systemIds, log },
      { home: home.path, url: secret(url) },
    );
    await store.inbox.accept(row(systemIds.next("in"), "a"));
    await store.notes.save(note());
    expect(
      (await store.notes.search(OPERATOR, "tyre", 5)).length + (await store.inbox.unfinished()).length,
    ).toBeGreaterThan(0);
    return log;
  }
  /** What somebody sees who sets these for one transaction. */
  async function seenBy(table: string, settings: Readonly<Record<string, string>>): Promise<number> {
    return sql.begin(async (transaction) => {
      await transaction.unsafe(`set local role ${ROLE}`);
      for (const [name, value] of Object.entries(settings))
        await transaction`select set_config(${name}, ${value}, true)`;
      const [seen] = await transaction.unsafe(`select count(*)::int as rows from ${table}`);
      return (seen as { rows: number }).rows;
    });
  }

  test("every table is secured, also against its owner, or is named with a reason", async () => {
    const tables: { name: string; secured: boolean; policies: string[] }[] = await sql`
      select relname::text as name, relrowsecurity and relforcerowsecurity as secured,
        array(select polname::text from pg_policy where polrelid = pg_class.oid order by 1) as policies
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
    const known = tables.filter(({ name }) => !(name in UNSECURED_TABLES));
    expect(known.map(({ name }) => name).toSorted()).toEqual(Object.keys(OWN_ROWS).toSorted());
    expect(known.filter(({ secured }) => !secured)).toEqual([]);
    for (const { name, policies } of known)
      expect([name, ...policies]).toEqual([
        name,
        "gateway",
        ...(OWN_ROWS[name] === null ? [] : [expect.stringMatching(/^own_rows_[0-9a-f]{8}$/)]),
      ]);
  });

  test("the gateway works as a role that owns nothing, bypasses nothing and cannot sign in", async () => {
    const [found] = await sql`
      select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, (select count(*)::int from pg_class where relowner = pg_roles.oid) as owns
      from pg_roles where rolname like 'pi_gateway_' || (select oid from pg_database where datname = current_database()) || '_%'`;
    expect(found).toEqual({ rolsuper: false, rolbypassrls: false, rolcanlogin: false, rolcreaterole: false, owns: 0 });
  });

  test("in 10,000 random cases nobody reads a row of another person, and nobody but the gateway writes one", async () => {
    const chance = createChance(16);
    const tables = Object.keys(OWN_ROWS) as [string, ...string[]];
    const cases = Array.from({ length: CASES }, () => ({
      person: chance.hits(0.05) ? "" : chance.pick(PEOPLE as [string, ...string[]]),
      tab: chance.pick(tables),
      operation: chance.pick(OPERATIONS as unknown as [string, ...string[]]),
    }));
    const [tried] = await sql.unsafe(`
      select count(*)::int as cases, sum(testing.try_case(person, tab, operation, foreign_row))::int as leaked
      from jsonb_to_recordset('${JSON.stringify(cases)}') as c(person text, tab text, operation text)
      join testing.foreign_rows using (tab)`);
    expect(tried).toEqual({ cases: CASES, leaked: 0 });
    for (const table of tables.filter((name) => OWN_ROWS[name] !== null))
      expect([table, await seenBy(table, { "pi_gateway.person": "person-3" })]).toEqual([table, 1]);
  }, 60_000);

  test("nobody who does not say who they are sees anything, and a setting ends with its transaction", async () => {
    for (const table of Object.keys(OWN_ROWS)) expect([table, await seenBy(table, {})]).toEqual([table, 0]);
    expect(await seenBy("notes", { "pi_gateway.person": "person-3" })).toBe(1);
    expect(await seenBy("notes", {})).toBe(0);
  });

  test("a token names its people, whatever else is set, and an unknown one names nobody", async () => {
    await sql`insert into person_logins (login, principal) values ('uid-1', 'person-1'), ('uid-1', 'person-2')`;
    const claims = (sub: string) => ({
      "request.jwt.claims": JSON.stringify({ sub }),
      "pi_gateway.person": "person-3",
    });
    expect([await seenBy("notes", claims("uid-1")), await seenBy("notes", claims("uid-2"))]).toEqual([2, 0]);
    expect(await seenBy("notes", { "request.jwt.claims": "{}" })).toBe(0);
  });

  test("a user that may create roles gets one, and one that may not works as the owner of its tables", async () => {
    const server = new URL((await testPostgres()) ?? "");
    for (const [name, rights, says] of [
      ["creates_roles", "createrole", false],
      ["creates_none", "", true],
    ] as const) {
      const user = `${name}_${systemIds.next("x")}`;
      await sql.unsafe(`create role "${user}" login password 'secret' ${rights}`);
      await sql.unsafe(`create database "${user}" owner "${user}"`);
      const url = Object.assign(new URL(server), { username: user, password: "secret", pathname: `/${user}` }).href;
      for (const _start of ["first", "second"]) {
        const log = await open(url);
        expect(log.lines.some(({ words }) => words.startsWith("the gateway works as the owner"))).toBe(says);
      }
      await sql.unsafe(`drop database "${user}"`);
      const roles: { rolname: string }[] = await sql`
        select rolname from pg_roles where pg_has_role(${user}, oid, 'member') and rolname like 'pi_gateway_%'`;
      expect(roles).toHaveLength(says ? 0 : 1);
      for (const { rolname } of [...roles, { rolname: user }]) await sql.unsafe(`drop role "${rolname}"`);
    }
  }, 60_000);

  test("policies that are gone, or of an earlier version, are made again at the next start, and others are left alone", async () => {
    const policies = async (): Promise<{ table: string; name: string; roles: string[] }[]> =>
      Array.from(await sql`select tablename as table, policyname as name, roles from pg_policies order by 1, 2`);
    const before = await policies();
    const own = before.find(({ table, name }) => table === "notes" && name !== "gateway");
    await sql.unsafe(`alter policy ${own?.name} on notes rename to own_rows_00000000`);
    await sql.unsafe("drop policy gateway on tasks; alter table tasks no force row level security");
    await open(database.url);
    expect(await policies()).toEqual(before);
    const [tasks] = await sql`select relforcerowsecurity as forced from pg_class where relname = 'tasks'`;
    expect(tasks).toEqual({ forced: true });
  });
});
