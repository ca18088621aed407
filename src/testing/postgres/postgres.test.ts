/** The Postgres server of tests: databases of their own, a crash and a restart, and nothing left behind by a test run that was killed. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { identify, isAlive } from "../../agents/process/proc.ts";
import { waitFor } from "../wait-for.ts";
import { createTestDatabase, type DatabaseTemplate, testPostgres } from "./database.ts";

const postgres = await testPostgres();

/** A process that starts a server, tells where it is, and stays until it is killed. */
const OWNER = `
  import { startPostgres } from ${JSON.stringify(new URL("./server.ts", import.meta.url).pathname)};
  const server = await startPostgres();
  const sql = new Bun.SQL(server.url, { max: 1 });
  await sql\`create table kept (word text)\`;
  await sql\`insert into kept values ('before the crash')\`;
  await sql.close({ timeout: 0 });
  await server.kill();
  await server.start();
  const again = new Bun.SQL(server.url, { max: 1 });
  const rows = await again\`select word from kept\`;
  console.log(JSON.stringify({ folder: server.folder, pid: server.pid(), url: server.url, words: rows.map((row) => row.word) }));
  setInterval(() => undefined, 60_000);
`;

describe.skipIf(postgres === null)("Postgres for tests", () => {
  test("each test file gets a database of its own from a template, which is prepared once", async () => {
    let prepared = 0;
    const template: DatabaseTemplate = {
      name: "postgres_test",
      async prepare(url) {
        prepared++;
        await using sql = new Bun.SQL(url, { max: 1 });
        await sql`create table words (word text)`;
      },
    };
    await using one = await createTestDatabase(template);
    await using other = await createTestDatabase(template);
    await using first = new Bun.SQL(one.url, { max: 1 });
    await using second = new Bun.SQL(other.url, { max: 1 });
    await first`insert into words values ('mine')`;
    expect(await second`select * from words`).toHaveLength(0);
    expect(prepared).toBeLessThanOrEqual(1); // on a server that stays, an earlier run has made it
  });

  test("a database is deleted with its connections still open", async () => {
    const database = await createTestDatabase();
    await using sql = new Bun.SQL(database.url, { max: 1 });
    await sql`select 1`;
    await database[Symbol.asyncDispose]();
    await expect((async () => await sql`select 1`)()).rejects.toThrow();
  });

  test("a server that was killed starts again with its data, and kill -9 of its owner leaves neither process nor folder", async () => {
    await using owner = Bun.spawn([process.execPath, "-e", OWNER], { stdout: "pipe", stderr: "inherit" });
    const reader = owner.stdout.getReader();
    const { folder, pid, words } = JSON.parse(new TextDecoder().decode((await reader.read()).value)) as {
      readonly folder: string;
      readonly pid: number;
      readonly words: readonly string[];
    };
    expect(words).toEqual(["before the crash"]);
    const server = identify(pid);
    expect(server && isAlive(server) && existsSync(folder)).toBe(true);
    owner.kill("SIGKILL");
    await waitFor("the end of the server", () => !server || !isAlive(server));
    await waitFor("the end of its folder", () => !existsSync(folder));
  }, 60_000);
});
