/** What `pi-gw doctor` and `pi-gw audit verify` find in a Postgres database: what is decided from facts, and the facts of a real server. */
import { describe, expect, test } from "bun:test";
import { isGatewayError } from "../../contracts/errors.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { type Secret, secret } from "../../kit/secret.ts";
import { intent } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { verifyAudit } from "../audit/verify.ts";
import { openStore } from "../open.ts";
import { checkDatabase } from "./check-database.ts";
import { type DatabaseFacts, judgeDatabase } from "./judge-database.ts";

/** Of two gateways at the same moment. */
const CALLS = 24;

const KNOWN = ["first", "second"];
const WELL: DatabaseFacts = {
  version: 150_004,
  encoding: "UTF8",
  answeredInMs: 1.4,
  clockAheadMs: -40,
  schema: "public",
  user: "gateway",
  mayCreateTables: true,
  mayCreateRoles: true,
  ownsTables: true,
  applied: KNOWN,
  isHalfMoved: false,
  policyChanges: 0,
  isPooled: false,
  isShared: false,
};

describe("a Postgres database", () => {
  test("that has all a gateway needs is fine", () => {
    const findings = judgeDatabase(WELL, KNOWN);
    expect(findings.map(({ state }) => state)).toEqual(["ok", "ok", "ok", "ok", "ok", "ok"]);
    expect(findings[0]?.say).toBe("Postgres 15.4, answered in 1 ms");
  });

  test("without tables is fine, and nothing is said about row level security", () => {
    const says = judgeDatabase({ ...WELL, applied: [], policyChanges: 0 }, KNOWN).map(({ say }) => say);
    expect(says.filter((say) => say.includes("no tables yet"))).toHaveLength(1);
    expect(says.filter((say) => say.includes("row level"))).toEqual([]);
  });

  test.each<[string, Partial<DatabaseFacts>, "note" | "broken", string]>([
    ["of version 14", { version: 140_011 }, "broken", "Postgres 14.11 is too old"],
    ["of another encoding", { encoding: "SQL_ASCII" }, "broken", "is SQL_ASCII, and UTF8 is needed"],
    ["behind a pooler that shares connections", { isPooled: true, isShared: true }, "broken", "in transaction mode"],
    ["without a schema", { schema: null, mayCreateTables: false }, "broken", "no schema of the search path"],
    ["in which the user may create nothing", { mayCreateTables: false }, "broken", "may not create tables"],
    ["in which the user may create no role", { mayCreateRoles: false }, "note", "works as the owner of its tables"],
    ["whose tables are another user's", { ownsTables: false }, "broken", "belong to another user"],
    ["of an older version", { applied: ["first"] }, "note", "up to date (second)"],
    ["of a newer version", { applied: [...KNOWN, "third"] }, "broken", "its migration third is not known"],
    ["to which a move is not complete", { isHalfMoved: true }, "broken", "is not complete"],
    ["with a table that lacks its policy", { policyChanges: 1 }, "note", "(1 change is missing)"],
    ["whose clock is ahead", { clockAheadMs: 61_000 }, "note", "61 s ahead of"],
    ["whose clock is behind", { clockAheadMs: -5_000 }, "note", "5 s behind"],
  ])("%s is reported, with what to do", (_what, facts, state, words) => {
    const findings = judgeDatabase({ ...WELL, ...facts }, KNOWN);
    expect(findings.filter((one) => one.state !== "ok").map((one) => [one.state, one.say.includes(words)])).toEqual([
      [state, true],
    ]);
  });

  test("by way of a pooler in session mode is fine", () => {
    const findings = judgeDatabase({ ...WELL, isPooled: true }, KNOWN);
    expect(findings.map(({ state }) => state)).not.toContain("broken");
  });

  test("that cannot be reached is one finding, without its password", async () => {
    const findings = await checkDatabase({ clock: systemClock }, secret("postgres://me:hunter2@127.0.0.1:1/none"));
    expect(findings.map(({ state }) => state)).toEqual(["broken"]);
    expect(findings[0]?.say).toContain("Postgres cannot be used");
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });
});

describe.skipIf((await testPostgres()) === null)("on a real server", () => {
  const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
  const troubles = async (url: Secret): Promise<readonly string[]> =>
    (await checkDatabase(DEPS, url)).filter(({ state }) => state !== "ok").map(({ say }) => say);

  test("a database is looked at before its first gateway, after it, and when somebody took row level security away", async () => {
    await using home = await tempHome();
    await using database = await createTestDatabase();
    const url = secret(database.url);
    expect(await troubles(url)).toEqual([]);
    await (await openStore(DEPS, { home: home.path, url }))[Symbol.asyncDispose]();
    expect(await troubles(url)).toEqual([]);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    await sql`alter table notes no force row level security`;
    await sql`delete from migrations where name = 'node-keys'`;
    expect(await troubles(url)).toEqual([
      expect.stringContaining("up to date (node-keys)"),
      expect.stringContaining("row level security is not complete (1 change is missing)"),
    ]);
  });

  test("a database of another encoding is refused at the start, with a sentence that says what to do, and nothing is written", async () => {
    await using home = await tempHome();
    await using database = await createTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    {
      await using server = new Bun.SQL((await testPostgres()) ?? "", { max: 1 });
      await server.unsafe(`drop database "${name}"`);
      await server.unsafe(
        `create database "${name}" encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`,
      );
    }
    const url = secret(database.url);
    const error = await openStore(DEPS, { home: home.path, url }).catch((failure: unknown) => failure);
    expect(isGatewayError(error) && [error.code, error.say]).toEqual([
      "store_failed",
      expect.stringContaining("create database gateway encoding 'UTF8' locale 'C' template template0"),
    ]);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    expect(await sql`select 1 from pg_tables where schemaname = 'public'`).toHaveLength(0);
    expect(await troubles(url)).toEqual([expect.stringContaining("is SQL_ASCII, and UTF8 is needed")]);
  });

  test("a user that owns nothing is told so, and does not take what is hidden from it for tampering", async () => {
    await using home = await tempHome();
    await using database = await createTestDatabase(STORE_TABLES);
    await (await openStore(DEPS, { home: home.path, url: secret(database.url) }))[Symbol.asyncDispose]();
    const [name, password] = [systemIds.next("reader"), systemIds.secret(16)];
    await using sql = new Bun.SQL(database.url, { max: 1 });
    await sql.unsafe(`create role "${name}" login password '${password}'`);
    await sql.unsafe(`grant select on all tables in schema public to "${name}"`);
    const address = Object.assign(new URL(database.url), { username: name, password });
    const url = secret(address.href);
    expect(await troubles(url)).toContainEqual(expect.stringContaining("belong to another user"));
    const { kind, findings } = await verifyAudit(home.path, { clock: systemClock, url });
    expect([kind, findings[0]?.say]).toEqual([
      "unverifiable",
      expect.stringContaining("does not see the whole audit log"),
    ]);
  });

  test("the audit log of two gateways is one chain, which both verify, and in which a changed row is found, also when both write at the same moment", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using one = await tempHome();
    await using two = await tempHome();
    const url = secret(database.url);
    const shared = secret("the-same-secret-for-both-7f3kQ9xZ");
    const verdict = async (home: string) => verifyAudit(home, { clock: systemClock, url });
    {
      await using first = await openStore(DEPS, { home: one.path, url, shared });
      await using second = await openStore(DEPS, { home: two.path, url, shared });
      const entry = { kind: "config.reloaded", at: 1, actor: "gateway", subject: "", detail: {} } as const;
      const write = async (at: number): Promise<void> => {
        const { toolCalls, audit } = at % 2 === 0 ? first : second;
        await toolCalls.refuse(intent(`call-${at}`, "t", true), { status: "blocked", output: "no" });
        await audit.note(entry);
      };
      await Promise.all(Array.from({ length: CALLS }, (_, at) => write(at)));
      const intact = { kind: "intact", calls: CALLS, entries: CALLS, links: CALLS * 3, findings: [] }; // a call has two
      expect(await verdict(one.path)).toMatchObject(intact); // while both run
    }
    expect((await verdict(two.path)).kind).toBe("intact");
    await using sql = new Bun.SQL(database.url, { max: 1 });
    await sql`update tool_calls set output = 'yes' where id = 'call-2'`;
    for (const home of [one, two])
      expect(await verdict(home.path)).toMatchObject({
        kind: "tampered",
        findings: [{ say: expect.stringContaining("call-2") as string }],
      });
  });

  test("a database that no gateway has used has nothing to verify", async () => {
    await using database = await createTestDatabase();
    await using home = await tempHome();
    await Bun.write(`${home.path}/audit.key`, systemIds.secret(32));
    const { kind, findings } = await verifyAudit(home.path, { clock: systemClock, url: secret(database.url) });
    expect([kind, findings[0]?.say]).toEqual(["unverifiable", expect.stringContaining("There are no tables")]);
  });
});
