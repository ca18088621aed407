/** Databases of earlier versions: copied before they are brought up to date, and as they were when that fails. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { checkStore, openStore } from "./index.ts";
import { APPLICATION_ID, NEWEST_VERSION } from "./migrate.ts";
import { firstMessage } from "./migrations/early/001-first-message.ts";
import { copyBeforeUpgrade } from "./upgrade-copy.ts";

const ADD_SESSION = `insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file)
  values ('k', 'webchat', 'default', 'the harbour', 't', 1, 1, 1, 'f')`;
const AT = Date.UTC(2026, 2, 1, 10, 20, 30);
const COPY = "gateway.db.before-upgrade-v1-20260301T102030Z";

/** A state directory with the database of the first version, and one session in it. */
async function firstVersion(more = "") {
  const home = await tempHome();
  {
    using db = new Database(join(home.path, "gateway.db"), { create: true });
    db.exec(firstMessage.sql);
    db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = 1; pragma journal_mode = wal`);
    db.exec(ADD_SESSION);
    if (more !== "") db.exec(more);
  }
  const log = recordingLog();
  const deps = { clock: createFakeClock(AT), ids: createSeqIds(), log };
  const copies = async () => (await readdir(home.path)).filter((name) => name.includes("before-upgrade")).toSorted();
  return { path: home.path, deps, log, copies, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

function contents(file: string): unknown {
  using db = new Database(file, { readonly: true });
  return [db.query("pragma user_version").get(), db.query("select title from sessions").all()];
}

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (error instanceof GatewayError) return error;
  throw new Error(`no GatewayError: ${String(error)}`);
}

test("a database of an earlier version is copied before its upgrade, to a private file that the log names", async () => {
  await using old = await firstVersion();
  expect((await checkStore(old.path)).say).toContain("the next start copies it and brings it up to date");
  await chmod(join(old.path, "gateway.db"), 0o644);
  await (await openStore(old.deps, { home: old.path }))[Symbol.asyncDispose]();
  const copy = join(old.path, COPY);
  expect(await old.copies()).toEqual([COPY]);
  expect((await checkStore(old.path)).say).not.toContain("next start");
  expect((await stat(copy)).mode & 0o777).toBe(0o600);
  expect(contents(copy)).toEqual([{ user_version: 1 }, [{ title: "the harbour" }]]);
  expect(contents(join(old.path, "gateway.db"))).toEqual([
    { user_version: NEWEST_VERSION },
    [{ title: "the harbour" }],
  ]);
  expect(old.log.lines.map(({ words }) => words)).toEqual([
    "database copied before its upgrade",
    "database brought up to date",
    "store opened",
  ]);
  for (const { fields } of old.log.lines.slice(0, 2)) expect(fields).toMatchObject({ copy });
});

test("a database that is up to date is not copied, and neither is a new one", async () => {
  await using home = await tempHome();
  for (let start = 0; start < 2; start++) {
    const deps = { clock: createFakeClock(AT), ids: createSeqIds(), log: recordingLog() };
    await (await openStore(deps, { home: home.path }))[Symbol.asyncDispose]();
  }
  expect((await readdir(home.path)).toSorted()).toEqual(["audit.key", "gateway.db"]);
});

test("an upgrade that fails leaves the database as it was, and names the copy and what to do", async () => {
  await using old = await firstVersion("create table jobs (x)");
  const error = await failure(openStore(old.deps, { home: old.path }));
  expect(error.code).toBe("store_failed");
  expect(error.say).toContain("table jobs already exists");
  expect(error.say).toContain("left as it was");
  expect(error.say).toContain(join(old.path, COPY));
  expect(await checkStore(old.path)).toMatchObject({ kind: "ok", version: 1, upToDate: false });
  expect(contents(join(old.path, "gateway.db"))).toEqual([{ user_version: 1 }, [{ title: "the harbour" }]]);
});

test("without room for the copy there is no upgrade: nothing is changed, and the sentence says how much is missing", async () => {
  await using old = await firstVersion();
  const before = await readFile(join(old.path, "gateway.db"));
  const freeBytes = async () => 63 * 1024 * 1024;
  const error = await failure(copyBeforeUpgrade({ ...old.deps, freeBytes }, old.path, 1));
  expect(error.code).toBe("store_failed");
  expect(error.say).toContain("needs 65 MB, and 63 MB are free. Nothing was changed.");
  expect(await readdir(old.path)).toEqual(["gateway.db"]);
  expect(await readFile(join(old.path, "gateway.db"))).toEqual(before);
});

test("the log beside a database counts for the room that a copy needs", async () => {
  await using old = await firstVersion();
  const { size } = await stat(join(old.path, "gateway.db"));
  const freeBytes = async () => size + 64 * 1024 * 1024;
  await copyBeforeUpgrade({ ...old.deps, freeBytes }, old.path, 1);
  using db = new Database(join(old.path, "gateway.db"));
  db.exec("update sessions set title = 'the quay'");
  const error = await failure(copyBeforeUpgrade({ ...old.deps, freeBytes }, old.path, 1));
  expect(error.say).toContain("no room");
});

test("a copy holds what only the log has, of a gateway that was killed", async () => {
  await using old = await firstVersion();
  await using killed = await tempHome();
  using db = new Database(join(old.path, "gateway.db"));
  db.exec("update sessions set title = 'the quay'");
  for (const name of ["gateway.db", "gateway.db-wal"])
    await writeFile(join(killed.path, name), await readFile(join(old.path, name)));
  const copy = await copyBeforeUpgrade(old.deps, killed.path, 1);
  expect(contents(copy)).toEqual([{ user_version: 1 }, [{ title: "the quay" }]]);
});

test("the three newest copies are kept; drafts of a killed start go, and files with other names stay", async () => {
  await using old = await firstVersion();
  const days = ["20240101", "20250101", "20250201", "20250301"].map((day) => `${day}T000000Z`);
  const [first = "", second = "", third = "", fourth = ""] = days.map(
    (moment) => `gateway.db.before-upgrade-v9-${moment}`,
  );
  for (const name of [second, fourth, first, third, `${first}.new`, "gateway.db.before-upgrade-mine"])
    await writeFile(join(old.path, name), "kept");
  await copyBeforeUpgrade(old.deps, old.path, 1);
  expect(await old.copies()).toEqual([COPY, third, fourth, "gateway.db.before-upgrade-mine"].toSorted());
});

test("a copy that cannot be written stops the upgrade, with a sentence that says why", async () => {
  await using old = await firstVersion();
  await mkdir(join(old.path, `${COPY}.new`)); // in the place of the draft
  const error = await failure(openStore(old.deps, { home: old.path }));
  expect([error.code, error.say.includes("Nothing was changed")]).toEqual(["store_failed", true]);
  expect(await checkStore(old.path)).toMatchObject({ kind: "ok", version: 1 });
});
