/** `pi-gw store migrate` as its user sees it. */
import { describe, expect, test } from "bun:test";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { secret } from "../../kit/secret.ts";
import { openStateDirectory, openStore } from "../../store/index.ts";
import { cliFixture } from "../../testing/cli-fixture.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { intent, row } from "../../testing/contracts/store/store-world.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { createMoveProgress } from "./move-progress.ts";
import { targetOf } from "./target.ts";

const VARIABLES: Readonly<Record<string, string>> = { DB: "postgres://me:hunter2@db.local/gw", BAD: "hunter2" };
const given = (target?: string, line?: string) => targetOf({ target, line, variables: (name) => VARIABLES[name] });

describe("the target of a move", () => {
  test("in a variable is that of the configuration too", () => {
    const target = given("${DB}");
    expect(target).toMatchObject({ to: "postgres", setting: "${DB}" });
    expect(target.to === "postgres" ? target.url.reveal() : "").toBe("postgres://me:hunter2@db.local/gw");
  });

  test("with a password is in no setting, and one without may be", () => {
    expect(given("postgres://me:hunter2@db.local/gw")).toMatchObject({ setting: null });
    expect(given(undefined, "postgresql://me:hunter2@db.local/gw")).toMatchObject({ setting: null });
    expect(given("postgres://me@db.local/gw")).toMatchObject({ setting: "postgres://me@db.local/gw" });
    expect(given("sqlite")).toEqual({ to: "sqlite" });
  });

  test.each([
    ["that is missing", undefined, undefined, "Give --to sqlite"],
    ["that is given twice", "sqlite", "postgres://me@db.local/gw", "Give --to sqlite"],
    ["of another kind", "mysql://me:hunter2@db.local/gw", undefined, "no address of a Postgres database"],
    ["that is no address", "postgres://me:hunter2@[", undefined, "no address of a Postgres database"],
    ["in a variable that is no address", "${BAD}", undefined, "no address of a Postgres database"],
    ["in a variable that is not set", "${NO}", undefined, "The variable NO is not set."],
  ])("%s is refused in a sentence without the password", (_what, target, line, sentence) => {
    let say = "";
    try {
      given(target, line);
    } catch (error) {
      say = (error as { readonly say: string }).say;
    }
    expect(say).toContain(sentence);
    expect(say).not.toContain("hunter2");
  });
});

describe("the progress of a move", () => {
  const STEPS = [
    { phase: "copy", table: "sessions", doneRows: 1, allRows: 4 },
    { phase: "copy", table: "turns", doneRows: 2, allRows: 4 },
    { phase: "copy", table: "turns", doneRows: 4, allRows: 4 },
    { phase: "copy", table: "media", doneRows: 4, allRows: 4 },
    { phase: "compare", table: "sessions", doneRows: 4, allRows: 4 },
  ] as const;
  const shown = async (isTerminal: boolean, isSilent = false): Promise<string> => {
    let text = "";
    const clock = createFakeClock();
    const world = { isTerminal, clock, stderr: (more: string) => void (text += more) };
    {
      using progress = createMoveProgress(world, isSilent);
      for (const step of STEPS) {
        progress.show(step);
        await clock.advance(1_000);
      }
    }
    return text;
  };

  test("is a line for each table with rows where nobody sits in front of it", async () => {
    expect(await shown(false)).toBe(
      "Copying: sessions, 1 of 4 rows\nCopying: turns, 4 of 4 rows\nComparing: sessions, 4 of 4 rows\n",
    );
  });

  test("is one line that moves on a terminal, and nothing for programs", async () => {
    const text = await shown(true);
    expect(text.split("\r\u001b[K")).toContain("Copying [############------------] 50 % of 4 rows: turns");
    expect(text).toEndWith("\r\u001b[K");
    expect(await shown(true, true)).toBe("");
  });
});

test("a move is refused while the gateway runs, with a password for the file, and where the gateway is already", async () => {
  await using cli = await cliFixture({}, VARIABLES);
  expect(await cli.run("store", "migrate", "--to", "sqlite")).toBe(1);
  expect(cli.err()).toContain("uses its SQLite file already");
  expect(await cli.run("store", "migrate", "--to", "postgres://me:hunter2@db.local/gw", "--write-config")).toBe(1);
  expect(cli.err()).toContain("holds a password, which is not written into the configuration");
  {
    await using _directory = await openStateDirectory({ log: silentLog }, cli.home);
    expect(await cli.run("store", "migrate", "--to", "${DB}")).toBe(75);
  }
  expect(cli.err()).toContain("Stop it first");
  await writeFile(join(cli.home, "pi-gateway.jsonc"), '{ "store": { "url": "${DB}" } }');
  expect(await cli.run("store", "migrate", "--to", "${DB}")).toBe(1);
  expect(cli.err()).toContain("names a Postgres database already");
  expect(cli.out() + cli.err()).not.toContain("hunter2");
});

describe.skipIf((await testPostgres()) === null)("a store", () => {
  test("in Postgres is looked at by doctor and verified by audit verify, by the address in the configuration", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using cli = await cliFixture({ clock: systemClock }, { DATABASE_URL: database.url });
    await writeFile(join(cli.home, "pi-gateway.jsonc"), '{ "store": { "url": "${DATABASE_URL}" } }');
    expect(await cli.run("audit", "verify")).toBe(1);
    expect(cli.out()).toContain("There is no audit.key in");
    {
      const deps = { clock: systemClock, ids: systemIds, log: silentLog };
      await using store = await openStore(deps, { home: cli.home, url: secret(database.url) });
      await store.toolCalls.refuse(intent("a", "t", true), { status: "blocked", output: "no" });
    }
    expect(await cli.run("audit", "verify")).toBe(0);
    expect(cli.out()).toContain("The audit log is intact: 1 tool calls, 0 other entries, 2 links.");
    await cli.run("doctor", "--json");
    const lines = cli
      .out()
      .split("\n")
      .filter((line) => line.includes('"check":"database"'));
    expect(lines.map((line) => (JSON.parse(line) as { state: string }).state)).toEqual(Array(6).fill("ok"));
    await writeFile(join(cli.home, "pi-gateway.jsonc"), "{ broken");
    expect(await cli.run("audit", "verify")).toBe(1); // nobody knows where the log is, and there is no file
    expect(cli.out() + cli.err()).not.toContain(new URL(database.url).password);
  }, 30_000);

  test("moves to Postgres and back by command, which changes the configuration when it is told to and shows no password", async () => {
    await using database = await createTestDatabase(STORE_TABLES);
    await using cli = await cliFixture({ clock: systemClock }, { DATABASE_URL: database.url });
    const deps = { clock: systemClock, ids: systemIds, log: silentLog };
    {
      await using store = await openStore(deps, { home: cli.home });
      await store.inbox.accept(row("in-1", "a"));
    }
    const file = join(cli.home, "pi-gateway.jsonc");
    const before = '{\n  // mine\n  "queue": { "maxTotal": 7 },\n}\n';
    await writeFile(file, before);
    const address = join(cli.home, "address");
    await writeFile(address, `${database.url}\n`);
    await cli.run("store", "migrate", "--to-file", address);
    expect(cli.out()).toContain(
      "Both sides have the same rows in every table.\nMoved 0 session files and media (0 bytes), each with the same digest.\nThe audit log is intact: 0 links.\n",
    );
    expect(cli.out()).toContain("variable DATABASE_URL of the gateway: pi-gw config set store.url '${DATABASE_URL}'");
    expect(await readFile(file, "utf8")).toBe(before);
    await writeFile(file, '{\n  // mine\n  "store": { "url": "${DATABASE_URL}" },\n}\n');
    await rename(join(cli.home, "gateway.db"), join(cli.home, "old.db"));
    expect(await cli.run("store", "migrate", "--to", "sqlite", "--write-config", "--json")).toBe(0);
    const answer: unknown = JSON.parse(cli.out().trimEnd().split("\n").at(-1) ?? "");
    expect(answer).toMatchObject({ ok: true, to: "sqlite", audit: { kind: "intact" }, config: file });
    const after = await readFile(file, "utf8");
    expect([after.includes("// mine"), after.includes("DATABASE_URL")]).toEqual([true, false]);
    await using store = await openStore(deps, { home: cli.home });
    expect((await store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["in-1"]);
    const { password } = new URL(database.url);
    expect(cli.out() + cli.err()).not.toContain(password);
  }, 30_000);
});
