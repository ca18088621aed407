/** Session files that are in the database too: what is trusted, what is loaded again, and what a turn adds. */
import { expect, test } from "bun:test";
import { appendFile, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import type { FileChange, SessionFileStore, StoredFile } from "../../contracts/store/session-files.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { headerLine } from "./session-file.ts";
import { createStoredSessions } from "./stored-session.ts";

const NAME = "session-a.jsonl";
const HEADER = headerLine({ id: "ses_1", at: 0, cwd: "/workspace" });
const SAID = `${HEADER}{"type":"message","id":"a"}\n`;
const MORE = `${SAID}{"type":"message","id":"b","parentId":"a"}\n`;

const digestOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
const fileOf = (text: string): StoredFile => ({
  bytes: Buffer.byteLength(text),
  digest: digestOf(text),
  canGrow: true,
});

/** A database that has these files, and counts how often one is read. */
function createFiles(contents: Map<string, string>) {
  const files: SessionFileStore & { reads: number } = {
    isLocal: false,
    reads: 0,
    find: async (name) => (contents.has(name) ? fileOf(contents.get(name) ?? "") : null),
    async *read(name) {
      files.reads++;
      for (const line of (contents.get(name) ?? "").split(/(?<=\n)/)) yield Buffer.from(line);
    },
    remove: async () => undefined,
    unknownOf: async () => [],
  };
  return files;
}

async function fixture(stored: string | null, local: string | null) {
  const home = await tempHome();
  const folder = join(home.path, "sessions");
  const path = join(folder, NAME);
  await mkdir(folder);
  if (local !== null) await writeFile(path, local);
  const contents = new Map(stored === null ? [] : [[NAME, stored]]);
  const files = createFiles(contents);
  const log = recordingLog();
  const deps = { log, ids: createSeqIds(), files };
  const sessions = createStoredSessions(deps);
  return {
    path,
    folder,
    files,
    log,
    contents,
    /** Another gateway's, which remembers nothing. */
    other: () => createStoredSessions(deps),
    sessions,
    restore: (settled: string, by = sessions) =>
      by.restore({ name: NAME, path, settledBytes: Buffer.byteLength(settled) }),
    change: (settled: string, from: StoredFile | null) =>
      sessions.changeOf({ name: NAME, path, settledBytes: Buffer.byteLength(settled) }, from),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

/** As a test reads it. */
const shown = (change: FileChange | null) =>
  change && {
    grown: change.grownFrom !== null,
    from: change.from,
    text: Buffer.from(change.data).toString(),
    digest: change.digest,
  };

test.each([
  ["is missing", null, "missing"],
  ["is shorter", HEADER, "shorter"],
  ["has another content", SAID.replace('"a"', '"x"'), "different"],
  ["has another content and is longer", `${SAID.replace('"a"', '"x"')}more\n`, "different"],
] as const)("a local session file that %s is replaced by the one in the database", async (_, local, because) => {
  await using one = await fixture(SAID, local);
  expect(await one.restore(SAID)).toEqual({ stored: fileOf(SAID), isReplaced: true });
  expect(await readFile(one.path, "utf8")).toBe(SAID);
  expect(one.log.lines).toMatchObject([{ words: "session file is loaded from the database", fields: { because } }]);
  expect(await readdir(one.folder)).toEqual([NAME]);
});

test.each([
  ["is what the database has", SAID],
  ["goes on with what an interrupted turn left", `${SAID}{"half a l`],
] as const)("a local session file that %s is left as it is", async (_, local) => {
  await using one = await fixture(SAID, local);
  expect((await one.restore(SAID)).isReplaced).toBe(false);
  expect([await readFile(one.path, "utf8"), one.files.reads]).toEqual([local, 0]);
});

test("a session file that the database has otherwise than the turns of an earlier version left it is taken from the disk", async () => {
  await using one = await fixture(SAID, MORE);
  expect(await one.restore(MORE)).toEqual({ stored: fileOf(SAID), isReplaced: false });
  await using unknown = await fixture(null, SAID);
  expect(await unknown.restore(SAID)).toEqual({ stored: null, isReplaced: false });
});

test("a session file that another gateway has changed in between is loaded again", async () => {
  await using one = await fixture(SAID, SAID);
  await one.restore(SAID);
  one.contents.set(NAME, MORE);
  expect((await one.restore(MORE)).isReplaced).toBe(true);
  expect(await readFile(one.path, "utf8")).toBe(MORE);
  expect((await one.restore(MORE)).isReplaced).toBe(false);
});

test("a session file that took the place of an unreadable one is not replaced by that one", async () => {
  const over = headerLine({ id: "ses_2", at: 0, cwd: "/workspace", startedOverAt: Buffer.byteLength(SAID) });
  await using one = await fixture(SAID, over);
  expect((await one.restore(SAID)).isReplaced).toBe(false);
  expect(await readFile(one.path, "utf8")).toBe(over);
});

test("a session file that is damaged in the database leaves the local one, and one that cannot be asked for fails the turn", async () => {
  await using one = await fixture(SAID, HEADER);
  one.files.read = () => {
    throw new GatewayError("store_corrupt", "a chunk is missing");
  };
  expect((await one.restore(SAID)).isReplaced).toBe(false);
  one.files.read = async function* () {
    yield Buffer.from(SAID.replace('"a"', '"x"')); // not what its digest says
  };
  expect((await one.restore(SAID)).isReplaced).toBe(false);
  one.files.read = () => {
    throw new GatewayError("store_failed", "Postgres is away");
  };
  await expect(one.restore(SAID)).rejects.toMatchObject({ code: "store_failed" });
  expect([await readFile(one.path, "utf8"), await readdir(one.folder)]).toEqual([HEADER, [NAME]]);
});

test("a turn adds what the file grew by; one that was rewritten, cut or made anew is stored as a whole", async () => {
  await using one = await fixture(SAID, MORE);
  const tail = MORE.slice(SAID.length);
  expect(shown(await one.change(MORE, fileOf(SAID)))).toEqual({
    grown: true,
    from: Buffer.byteLength(SAID),
    text: tail,
    digest: digestOf(MORE),
  });
  const whole = { grown: false, from: 0, text: MORE, digest: digestOf(MORE) };
  expect(shown(await one.change(MORE, null))).toEqual(whole);
  expect(shown(await one.change(MORE, fileOf(SAID.replace('"a"', '"x"'))))).toEqual(whole);
  expect(shown(await one.change(MORE, { ...fileOf(SAID), canGrow: false }))).toEqual(whole);
  expect(shown(await one.change(SAID, fileOf(MORE)))).toEqual({
    grown: false,
    from: 0,
    text: SAID,
    digest: digestOf(SAID),
  });
});

test("bytes behind the settled ones are not stored", async () => {
  await using one = await fixture(SAID, SAID);
  await appendFile(one.path, '{"half a l');
  expect(shown(await one.change(SAID, null))?.text).toBe(SAID);
  await truncate(one.path, 10);
  await expect(one.change(SAID, null)).rejects.toMatchObject({ code: "internal" });
});

test("a link that an agent put in the place of its session file is not read", async () => {
  await using one = await fixture(SAID, SAID);
  await rm(one.path);
  await writeFile(join(one.folder, "secret"), SAID);
  await symlink(join(one.folder, "secret"), one.path);
  await expect(one.change(SAID, fileOf(SAID))).rejects.toThrow();
  expect((await one.restore(SAID, one.other())).isReplaced).toBe(true);
});

/** A process that may write files of 8 kB restores one of 20 kB: the system takes the first part and refuses the rest, as a full disk does. */
const WITHOUT_ROOM = `
const { createStoredSessions } = await import(process.argv[1]);
const data = Buffer.alloc(20_000, 97);
const stored = { bytes: data.length, digest: new Bun.CryptoHasher("sha256").update(data).digest("hex"), canGrow: true };
const log = { info() {}, error() {} };
const files = { find: async () => stored, async *read() { yield data; } };
const sessions = createStoredSessions({ log, ids: { next: () => "part_1" }, files });
const end = await sessions.restore({ name: "a", path: process.argv[2], settledBytes: data.length }).then(() => "restored", () => "refused");
console.log(end);`;

test("a disk that takes a part of a file leaves no part of a file where a session file belongs", async () => {
  await using home = await tempHome();
  const path = join(home.path, "session-a.jsonl");
  const room = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
  const command = [process.execPath, "-e", WITHOUT_ROOM, join(import.meta.dir, "stored-session.ts"), path];
  const { stdout } = Bun.spawnSync(["sh", "-c", room, "sh", ...command]);
  expect(stdout.toString().trim()).toBe("refused");
  expect(await readdir(home.path)).toEqual([]);
});
