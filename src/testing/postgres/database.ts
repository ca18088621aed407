/**
 * Databases of tests, on the one Postgres server of a test run. `npm test` starts it and names it in PI_TEST_POSTGRES; a test process that
 * runs alone starts its own. The variable may also name a server of yours, whose superuser the url has to be.
 */
import { lazy } from "../../kit/deferred.ts";
import { systemIds } from "../../kit/ids.ts";
import { startPostgres } from "./server.ts";

interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Tables that many test files begin with: made once per server, copied for each database. */
export interface DatabaseTemplate {
  readonly name: string;
  prepare(url: string): Promise<void>;
}

const NONE = "none: ";
/** Of the advisory lock under which a template is made. */
const TEMPLATE_LOCK = 7_301;

/** The value of PI_TEST_POSTGRES for test processes: a server, or the reason why there is none. */
export function variableFor(server: { readonly url: string } | string): string {
  return typeof server === "string" ? NONE + server : server.url;
}

/**
 * Resolves with the url of a server, or with null where this machine can run none; then the tests that need one skip, and the reason is
 * printed: `describe.skipIf((await testPostgres()) === null)`.
 */
export const testPostgres = lazy(async (): Promise<string | null> => {
  const named = process.env.PI_TEST_POSTGRES;
  const server = named?.startsWith(NONE) ? named.slice(NONE.length) : named ? { url: named } : await startPostgres();
  if (typeof server !== "string") return server.url;
  console.warn(`\n*** Tests with Postgres are SKIPPED on this machine: ${server}\n`);
  return null;
});

/** A new database, deleted when it is disposed of, even while connections to it are open. With a `name` it may be there already. */
export async function createTestDatabase(
  template?: DatabaseTemplate,
  name: string = systemIds.next("test"),
): Promise<TestDatabase> {
  const server = await testPostgres();
  if (server === null) throw new Error("There is no Postgres server on this machine: skip this test.");
  await using connection = new Bun.SQL(server, { max: 1 });
  if (template) await ensureTemplate(connection, server, template);
  const source = template ? templateName(template) : "template1";
  // `file_copy` copies the files of a small database in 20 ms; the default, `wal_log`, takes twice to five times as long.
  if (!(await isDatabase(connection, name)))
    await connection.unsafe(`create database "${name}" template "${source}" strategy file_copy`);
  return {
    url: databaseUrl(server, name),
    async [Symbol.asyncDispose]() {
      await using last = new Bun.SQL(server, { max: 1 });
      await last.unsafe(`drop database if exists "${name}" with (force)`);
    },
  };
}

async function ensureTemplate(connection: Bun.SQL, server: string, template: DatabaseTemplate): Promise<void> {
  const name = templateName(template);
  const isThere = async (): Promise<boolean> =>
    (await connection.unsafe("select 1 from pg_database where datname = $1 and datistemplate", [name])).length > 0;
  if (await isThere()) return;
  await connection.unsafe(`select pg_advisory_lock(${TEMPLATE_LOCK})`); // the end of this connection releases it
  if (await isThere()) return;
  await connection.unsafe(`drop database if exists "${name}" with (force)`); // of a process that was killed while it made it
  await connection.unsafe(`create database "${name}"`);
  await template.prepare(databaseUrl(server, name));
  await connection.unsafe(`alter database "${name}" with is_template true allow_connections false`);
}

async function isDatabase(connection: Bun.SQL, name: string): Promise<boolean> {
  return (await connection.unsafe("select 1 from pg_database where datname = $1", [name])).length > 0;
}

function templateName({ name }: DatabaseTemplate): string {
  return `template_${name}`;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
