/** Starts of versions on a state directory: a trial that counts, a return with its database, and kills between. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isGatewayError } from "../contracts/errors.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { checkStore, openStore } from "../store/index.ts";
import { beginVersion, versionFiles } from "./index.ts";

const AT = Date.UTC(2026, 2, 1, 10, 20, 30);
const TRIAL = { before: "base", next: "1.1.0", over: "1.0.0", switchedAt: AT };

/** A state directory with a database, and the package of version 1.0.0 around a launcher. */
async function machine() {
  const folder = await tempHome();
  const home = join(folder.path, "home");
  const launcher = join(folder.path, "package", "bin", "pi-gw");
  await mkdir(join(folder.path, "package", "dist"), { recursive: true });
  await mkdir(join(folder.path, "package", "bin"));
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(folder.path, "package", "dist", "version"), "1.0.0\n");
  const clock = createFakeClock(AT);
  const open = () => openStore({ clock, ids: createSeqIds(), log: recordingLog() }, { home });
  await (await open())[Symbol.asyncDispose]();
  return {
    home,
    files: versionFiles(home),
    open,
    begin: (runs: string) => beginVersion({ clock }, { home, runs, launcher }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** What a newer version does at its start: a copy, then tables that nobody knows, left in the log by a kill. */
async function upgradeByNewer(home: string): Promise<void> {
  const file = join(home, "gateway.db");
  using db = new Database(file);
  db.run("insert into meta (key, value) values ('word', 7)");
  db.run("vacuum into ?", [`${file}.before-upgrade-v36-20260301T102031Z`]);
  db.exec("create table of_newer (value integer); insert into migrations (name, applied_at) values ('of-newer', 1)");
}

test("a new version counts in the moment before its first message, and stays from then on", async () => {
  await using it = await machine();
  it.files.beginTrial(TRIAL);
  const version = await it.begin("1.1.0");
  expect([version.isOnTrial(), it.files.current()]).toEqual([true, null]);
  version.count();
  expect([version.isOnTrial(), it.files.hasTrial()]).toEqual([false, false]);
  expect(it.files.current()).toEqual({ version: "1.1.0", over: "1.0.0" });
  expect(it.files.outcome()).toMatchObject({ from: "base", to: "1.1.0", kind: "updated" });
  expect((await it.begin("1.1.0")).isOnTrial()).toBe(false);
});

test("a return puts the database and the head of the audit log back as they were before the new version", async () => {
  await using it = await machine();
  await writeFile(join(it.home, "audit-head.json"), "before");
  it.files.beginTrial(TRIAL);
  const version = await it.begin("1.1.0");
  await upgradeByNewer(it.home);
  await writeFile(join(it.home, "audit-head.json"), "after");
  version.failed("no port\nis free");
  expect((await checkStore(it.home)).kind).toBe("newer");
  await it.begin("base");
  expect((await checkStore(it.home)).kind).toBe("ok");
  expect(readFileSync(join(it.home, "audit-head.json"), "utf8")).toBe("before");
  using db = new Database(join(it.home, "gateway.db"), { readonly: true });
  expect(db.query("select value from meta where key = 'word'").get()).toEqual({ value: 7 });
  expect(it.files.outcome()).toMatchObject({ to: "1.1.0", kind: "returned", why: "no port is free" });
  expect([it.files.hasTrial(), it.files.current()]).toEqual([false, null]);
  await (await it.open())[Symbol.asyncDispose]();
});

test("a return that was killed after any of its steps ends with the next start", async () => {
  await using it = await machine();
  it.files.beginTrial(TRIAL);
  await it.begin("1.1.0");
  await upgradeByNewer(it.home);
  await it.begin("base");
  it.files.beginTrial(TRIAL); // as if it had been killed before its last step
  await it.begin("base");
  expect([(await checkStore(it.home)).kind, it.files.hasTrial()]).toEqual(["ok", false]);
});

test("a database that the new version did not change is left as it is by the return", async () => {
  await using it = await machine();
  it.files.beginTrial(TRIAL);
  await it.begin("1.1.0");
  await writeFile(join(it.home, "gateway.db.before-upgrade-v36-20260301T102031Z"), "never to be used");
  await it.begin("base");
  expect((await checkStore(it.home)).kind).toBe("ok");
  expect(existsSync(join(it.home, "gateway.db.of-newer-version"))).toBe(false);
});

test("a copy from before an earlier upgrade is never put back", async () => {
  await using it = await machine();
  await upgradeByNewer(it.home);
  it.files.beginTrial({ ...TRIAL, switchedAt: AT + 60_000 });
  await it.begin("1.1.0");
  const error = await it.begin("base").catch((caught: unknown) => caught);
  expect(isGatewayError(error) && error.code).toBe("store_newer");
  expect(it.files.hasTrial()).toBe(true);
  expect((await readdir(it.home)).filter((name) => name.includes("of-newer"))).toEqual([]);
});

test("a version that the files do not name does not serve", async () => {
  await using it = await machine();
  it.files.setCurrent("1.1.0", "1.0.0");
  const error = await it.begin("base").catch((caught: unknown) => caught);
  expect(isGatewayError(error) && error.code).toBe("update_restart");
});

test("files of versions that are damaged say nothing", async () => {
  await using it = await machine();
  await mkdir(it.files.folder, { recursive: true });
  for (const text of ["", "base", "base ../../evil 1.0.0 5", "base 1.1.0 1.0.0 soon", ".. 1.1.0 1.0.0 5"]) {
    await writeFile(join(it.files.folder, "trial"), text);
    expect(it.files.trial()).toBeNull();
  }
  await writeFile(join(it.files.folder, "current"), "../evil 1.0.0");
  expect(it.files.current()).toBeNull();
});
