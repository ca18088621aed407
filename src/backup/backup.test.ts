import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { silentLog } from "../kit/log.ts";
import { secret } from "../kit/secret.ts";
import { openStateDirectory, openStore } from "../store/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { type TempHome, tempHome } from "../testing/temp-home.ts";
import { archiveBytes } from "./archive/write-archive.ts";
import { isBackedUp } from "./contents.ts";
import { createBackup, listBackups, restoreBackup, verifyBackup } from "./index.ts";
import { manifestOf } from "./manifest.ts";

setDefaultTimeout(60_000); // making a key of a passphrase takes half a second, on a busy machine several

const NEVER = new AbortController().signal;

interface World extends AsyncDisposable {
  readonly home: string;
  /** Beside it. */
  readonly other: string;
  readonly folder: string;
  backup(passphrase?: string): Promise<string>;
  restore(file: string, options?: { passphrase?: string; replace?: boolean }): ReturnType<typeof restoreBackup>;
}

const deps = () => ({ clock: createFakeClock(), ids: createSeqIds(), log: silentLog });

async function world(files: Readonly<Record<string, string>> = {}): Promise<World> {
  const temp: TempHome = await tempHome();
  const [home, other, folder] = ["home", "other", "backups"].map((name) => join(temp.path, name)) as [
    string,
    string,
    string,
  ];
  await using store = await openStore(deps(), { home });
  for (const [path, text] of Object.entries({ token: "a-token", ...files })) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const passphraseOf = (text: string | undefined) => (text === undefined ? null : secret(text));
  void store;
  return {
    home,
    other,
    folder,
    async backup(passphrase) {
      const options = { home, folder, version: "1.2.3", config: null, passphrase: passphraseOf(passphrase) };
      return (await createBackup(deps(), options, NEVER)).file;
    },
    restore: (file, { passphrase, replace = false } = {}) =>
      restoreBackup(deps(), file, { home: other, passphrase: passphraseOf(passphrase), replace }, NEVER),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

describe("a backup", () => {
  test.each([
    ["gateway.db", false],
    ["gateway.db-wal", false],
    ["gateway.pid", false],
    ["gateway.json", false],
    ["lock.db", false],
    ["gateway.db.before-upgrade-v1-20260301T102030Z", false],
    ["run", false],
    ["logs", false],
    ["backups", false],
    ["agent/cache", false],
    ["roles/member/default/cache", false],
    ["token", true],
    ["audit.key", true],
    ["pi-gateway.jsonc", true],
    ["media", true],
    ["plugins", true],
    ["workspace/cache", true],
    ["workspace/run", true],
  ])("of the state directory: whether %s is read by itself is %p", (path, expected) => {
    expect(isBackedUp(path)).toBe(expected);
  });

  test("holds keys, settings, media, workspaces and sessions, also one that a process works on, and comes back private", async () => {
    await using it = await world({
      "pi-gateway.jsonc": "{}",
      "media/ab/picture": "bytes",
      "workspace/notes.txt": "text",
      "sessions/session-1.jsonl": "one",
      "run/sessions/12-34-x/session-2.jsonl": "two",
      "logs/today.log": "lines",
      "agent/cache/x.pile": "code",
    });
    await symlink("/etc/hosts", join(it.home, "workspace", "link"));
    await chmod(join(it.home, "token"), 0o600);
    const file = await it.backup();
    const restored = await it.restore(file);
    const at = (path: string) => readFile(join(it.other, path), "utf8");
    expect(await at("token")).toBe("a-token");
    expect(await at("media/ab/picture")).toBe("bytes");
    expect(await at("workspace/notes.txt")).toBe("text");
    expect(await at("sessions/session-1.jsonl")).toBe("one");
    expect(await at("sessions/session-2.jsonl")).toBe("two");
    expect(await readlink(join(it.other, "workspace", "link"))).toBe("/etc/hosts");
    expect((await readdir(it.other)).includes("logs")).toBe(false);
    expect((await stat(it.other)).mode & 0o777).toBe(0o700);
    expect((await stat(join(it.other, "token"))).mode & 0o777).toBe(0o600);
    expect(restored).toMatchObject({ before: null, manifest: { version: "1.2.3", gone: [] } });
  });

  test("holds the configuration file in use, also when it lies elsewhere", async () => {
    await using it = await world();
    const config = join(dirname(it.home), "elsewhere.jsonc");
    await writeFile(config, '{ "gateway": {} }');
    const options = { home: it.home, folder: it.folder, version: "1", config, passphrase: null };
    const { file } = await createBackup(deps(), options, NEVER);
    await it.restore(file);
    expect(await readFile(join(it.other, "pi-gateway.jsonc"), "utf8")).toBe('{ "gateway": {} }');
  });

  test("in a folder of the state directory does not hold the backups before it", async () => {
    await using it = await world();
    const folder = join(it.home, "kept");
    const options = { home: it.home, folder, version: "1", config: null, passphrase: null };
    await createBackup(deps(), options, NEVER);
    const { manifest } = await createBackup(deps(), options, NEVER);
    expect(manifest.files.filter(({ path }) => path.startsWith("kept"))).toEqual([]);
  });

  test("opens with its passphrase only, and is listed as encrypted", async () => {
    await using it = await world();
    const file = await it.backup("correct horse battery");
    const verify = (passphrase: string | null) =>
      verifyBackup(file, { passphrase: passphrase === null ? null : secret(passphrase) }, NEVER);
    await expect(verify("wrong horse battery")).rejects.toMatchObject({ code: "passphrase_wrong" });
    await expect(verify(null)).rejects.toMatchObject({ code: "passphrase_wrong" });
    expect((await verify("correct horse battery")).version).toBe("1.2.3");
    expect(await listBackups(it.folder)).toMatchObject([{ file, encrypted: true }]);
  });

  test("that ends too early is neither verified nor restored, and leaves nothing behind", async () => {
    await using it = await world({ "workspace/large": "abcdefgh".repeat(50_000) });
    const file = await it.backup();
    await truncate(file, Math.floor((await stat(file)).size / 2));
    await expect(verifyBackup(file, { passphrase: null }, NEVER)).rejects.toMatchObject({ code: "backup_damaged" });
    await expect(it.restore(file)).rejects.toMatchObject({ code: "backup_damaged" });
    expect((await readdir(dirname(it.home))).toSorted()).toEqual(["backups", "home"]);
  });

  test("that is interrupted leaves nothing behind", async () => {
    await using it = await world();
    const options = { home: it.home, folder: it.folder, version: "1", config: null, passphrase: null };
    const stopping = new AbortController();
    const progress = () => stopping.abort(new Error("stopped"));
    await expect(createBackup(deps(), { ...options, progress }, stopping.signal)).rejects.toThrow();
    expect(await readdir(it.folder)).toEqual([]);
  });
});

describe("restoring", () => {
  test("does not touch a state directory that is there, unless it is told to, and then keeps it", async () => {
    await using it = await world();
    const file = await it.backup();
    await mkdir(it.other, { mode: 0o700 });
    await writeFile(join(it.other, "mine"), "mine");
    await expect(it.restore(file)).rejects.toMatchObject({ code: "home_not_empty" });
    expect(existsSync(join(it.other, "mine"))).toBe(true);
    const { before } = await it.restore(file, { replace: true });
    expect(await readFile(join(before ?? "", "mine"), "utf8")).toBe("mine");
    expect(existsSync(join(it.other, "token"))).toBe(true);
  });

  test("does not touch a state directory that a gateway holds", async () => {
    await using it = await world();
    const file = await it.backup();
    await using held = await openStateDirectory({ log: silentLog }, it.other);
    await expect(it.restore(file, { replace: true })).rejects.toMatchObject({ code: "home_taken" });
    expect(await readdir(held.path)).toContain("lock.db");
  });

  test("refuses a whole backup whose database is damaged, and leaves nothing behind", async () => {
    await using it = await world({ "not-a-database": "not a database ".repeat(1_000) });
    const file = join(dirname(it.home), "by-hand.tar.gz");
    const sources = [{ path: "gateway.db", kind: "file", from: [join(it.home, "not-a-database")] }] as const;
    const about = { version: "1", createdAt: "2026-01-01T00:00:00.000Z", home: it.home };
    const parts = { sources, manifest: manifestOf.bind(null, about), progress: () => undefined };
    await writeFile(file, gzipSync(Buffer.concat(await Array.fromAsync(archiveBytes(parts, NEVER)))));
    expect((await verifyBackup(file, { passphrase: null }, NEVER)).files).toHaveLength(1);
    await expect(it.restore(file)).rejects.toThrow("its database is damaged");
    expect((await readdir(dirname(it.home))).toSorted()).toEqual(["by-hand.tar.gz", "home"]);
  });

  test("refuses a backup whose audit log was cut off", async () => {
    await using it = await world();
    await rm(join(it.home, "audit-head.json"), { force: true });
    await writeFile(join(it.home, "audit-head.json"), JSON.stringify({ no: 5, hash: "x", mac: "y" }));
    const file = await it.backup();
    await expect(it.restore(file)).rejects.toThrow("its audit log was changed");
    expect(existsSync(it.other)).toBe(false);
  });
});
