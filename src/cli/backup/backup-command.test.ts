import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture } from "../../testing/cli-fixture.ts";

const SHORT = "hunter2x";

test("a backup of a gateway whose database is in Postgres says that the database is not in it", async () => {
  await using cli = await cliFixture();
  await writeFile(join(cli.home, "pi-gateway.jsonc"), '{ "store": { "url": "postgres://me@localhost/db" } }');
  expect(await cli.run("backup", "--json")).toBe(0);
  expect(JSON.parse(cli.out())).toMatchObject({
    encrypted: false,
    file: expect.stringContaining(join(cli.home, "backups")),
  });
  expect(cli.err()).toContain("pg_dump");
});

test("an encrypted backup needs a passphrase that is long enough, and a file that holds one", async () => {
  await using cli = await cliFixture();
  await writeFile(join(cli.home, "short"), `${SHORT}\n`);
  expect(await cli.run("backup", "--encrypt", "--passphrase-file", join(cli.home, "short"))).toBe(1);
  expect(cli.err()).toContain("at least 12 characters");
  expect(cli.err()).not.toContain(SHORT);
  expect(await cli.run("backup", "--encrypt", "--passphrase-file", join(cli.home, "nothing"))).toBe(1);
  expect(cli.err()).toContain("There is no passphrase in");
});

test("a folder without backups is said in a sentence", async () => {
  await using cli = await cliFixture();
  expect(await cli.run("backup", "list", "--folder", "nowhere")).toBe(0);
  expect(cli.out()).toContain(`There are no backups in ${join(cli.home, "nowhere")}.`);
});
