/**
 * Row level security as Supabase's API meets it: requests come as `authenticator`, become `authenticated` or `anon` for one transaction, and bring the claims of their token, of
 * which `auth.uid()` is the subject. Roles are those of a whole server, so they have names of their own here; Supabase itself was not tried.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../../kit/clock.ts";
import { systemIds } from "../../../kit/ids.ts";
import { secret } from "../../../kit/secret.ts";
import { createTestDatabase, testPostgres } from "../../../testing/postgres/database.ts";
import { fillForPeople } from "../../../testing/postgres/filled-tables.ts";
import { STORE_TABLES } from "../../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { tempHome } from "../../../testing/temp-home.ts";
import { openStore } from "../../open.ts";
import { OWN_ROWS } from "./own-rows.ts";

const PEOPLE = ["person-0", "person-1", "person-2", "person-3"];
const ANNA = "8d1f2c1e-0000-4000-8000-000000000001";
const STRANGER = "8d1f2c1e-0000-4000-8000-000000000002";
const suffix = systemIds.next("x");
const [AUTHENTICATOR, AUTHENTICATED, ANON, SERVICE] = ["authenticator", "authenticated", "anon", "service_role"].map(
  (role) => `${role}_${suffix}`,
) as [string, string, string, string];
const PASSWORD = systemIds.secret(16);

/** As a new project of Supabase has them: `auth.uid()`, and every right on tables of `public` for the roles of its API. */
const SUPABASE = `
  create schema auth;
  create function auth.uid() returns uuid language sql stable as $$
    select nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub', '')::uuid
  $$;
  create role "${AUTHENTICATOR}" login noinherit password '${PASSWORD}';
  create role "${AUTHENTICATED}" nologin;
  create role "${ANON}" nologin;
  create role "${SERVICE}" nologin bypassrls;
  grant "${AUTHENTICATED}", "${ANON}", "${SERVICE}" to "${AUTHENTICATOR}";
  grant usage on schema auth to "${AUTHENTICATED}", "${ANON}";
  alter default privileges in schema public grant all on tables to "${AUTHENTICATED}", "${ANON}", "${SERVICE}";
  grant all on all tables in schema public to "${AUTHENTICATED}", "${ANON}", "${SERVICE}"`;

describe.skipIf((await testPostgres()) === null)("a database of Supabase", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let owner: Bun.SQL;
  let api: Bun.SQL;
  beforeAll(async () => {
    database = await createTestDatabase(STORE_TABLES);
    owner = new Bun.SQL(database.url, { max: 1 });
    await owner.unsafe(SUPABASE);
    await using home = await tempHome();
    const deps = { clock: systemClock, ids: systemIds, log: recordingLog() };
    await using _made = await openStore(deps, { home: home.path, url: secret(database.url) }); // makes the policies
    await fillForPeople(owner, PEOPLE, "person-none");
    await owner`insert into person_logins (login, principal) values (${ANNA}, 'person-1'), (${ANNA}, 'person-2')`;
    const address = Object.assign(new URL(database.url), { username: AUTHENTICATOR, password: PASSWORD });
    api = new Bun.SQL(address.href, { max: 2 });
  });
  afterAll(async () => {
    await api.close();
    for (const role of [AUTHENTICATED, ANON, SERVICE, AUTHENTICATOR])
      await owner.unsafe(`drop owned by "${role}"; drop role "${role}"`);
    await owner.close();
    await database[Symbol.asyncDispose]();
  });

  /** As PostgREST does it for each request. */
  const request = <Row>(role: string, sub: string | null, query: string): Promise<Row[]> =>
    api.begin(async (transaction) => {
      await transaction.unsafe(`set local role "${role}"`);
      if (sub !== null)
        await transaction`select set_config('request.jwt.claims', ${JSON.stringify({ sub, role })}, true)`;
      return Array.from(await transaction.unsafe(query)) as Row[];
    });
  const owners = async (role: string, sub: string | null): Promise<readonly string[]> =>
    (await request<{ owner: string }>(role, sub, "select owner from notes order by owner")).map((row) => row.owner);

  test("a user who signed in sees the rows of the people that auth.uid() stands for, and of nobody else", async () => {
    expect(await request(AUTHENTICATED, ANNA, "select auth.uid()::text as uid")).toEqual([{ uid: ANNA }]);
    expect(await owners(AUTHENTICATED, ANNA)).toEqual(["person-1", "person-2"]);
    expect(await owners(AUTHENTICATED, STRANGER)).toEqual([]);
    expect(await request(AUTHENTICATED, ANNA, "select * from person_logins")).toEqual([]);
  });

  test("anonymous requests see nothing of any table, although Supabase granted them everything", async () => {
    for (const table of Object.keys(OWN_ROWS))
      expect([table, await request(ANON, null, `select 1 from "${table}" limit 1`)]).toEqual([table, []]);
  });

  test("a user who signed in changes and adds nothing, whatever was granted", async () => {
    expect(await request(AUTHENTICATED, ANNA, "delete from notes returning owner")).toEqual([]);
    expect(await request(AUTHENTICATED, ANNA, "update notes set title = 'mine' returning owner")).toEqual([]);
    const taken = `insert into person_logins (login, principal) values ('${STRANGER}', 'person-0')`;
    expect(await request(AUTHENTICATED, STRANGER, taken).catch((error: Error) => error.message)).toContain(
      "row-level security",
    );
  });

  test("a connection that serves the next request keeps nothing of the one before", async () => {
    for (let turn = 0; turn < 4; turn++) {
      expect(await owners(AUTHENTICATED, ANNA)).toHaveLength(2);
      expect(await owners(AUTHENTICATED, null)).toEqual([]);
    }
  });

  test("service_role sees everybody's rows, as it does everywhere in Supabase", async () => {
    expect(await owners(SERVICE, null)).toEqual(expect.arrayContaining(PEOPLE));
  });
});
