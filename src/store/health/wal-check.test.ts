/** Damage in the write-ahead log: noticed before SQLite forgets it, counted, kept, and never claimed of a log that a kill has left. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { startStoreChild } from "../../testing/contracts/store/store-child.ts";
import { row } from "../../testing/contracts/store/store-world.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { checkStore, openStore, verifyAudit } from "../index.ts";
import { findWalDamage, judge, type WalDamage } from "./wal-check.ts";

const FRAME = 24 + 4_096;
const HEADER = 32;
const COMMITS = 40;

function deps() {
  return { clock: systemClock, ids: createSeqIds(), log: recordingLog() };
}

const NAMES = ["gateway.db", "gateway.db-wal", "gateway.db-shm", "audit.key"];

/** The files of a store as a kill would leave them: read while it is open, after `COMMITS` messages, one commit each. */
async function filesOfKilled(checkpoint: boolean): Promise<readonly Buffer[]> {
  await using running = await tempHome();
  await using store = await openStore(deps(), { home: running.path });
  for (let n = 0; n < COMMITS; n++) await store.inbox.accept(row(`in${n}`, "a"));
  using other = new Database(join(running.path, "gateway.db"));
  if (checkpoint) other.exec("pragma wal_checkpoint(passive)");
  return await Promise.all(NAMES.map((name) => readFile(join(running.path, name))));
}

const made = new Map<boolean, Promise<readonly Buffer[]>>(); // once for all tests

async function killedHome({ checkpoint = false } = {}) {
  const left = await tempHome();
  const files = made.get(checkpoint) ?? filesOfKilled(checkpoint);
  made.set(checkpoint, files);
  for (const [n, bytes] of (await files).entries()) await writeFile(join(left.path, NAMES[n] ?? ""), bytes);
  const file = join(left.path, "gateway.db");
  const { size } = await stat(`${file}-wal`);
  return {
    ...left,
    file,
    wal: `${file}-wal`,
    shm: `${file}-shm`,
    frames: (size - HEADER) / FRAME,
    async flip(at: number) {
      const bytes = await readFile(`${file}-wal`);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(`${file}-wal`, bytes);
    },
    [Symbol.asyncDispose]: () => left[Symbol.asyncDispose](),
  };
}

async function rowsAfterOpening(home: string, log = recordingLog()) {
  await using store = await openStore({ ...deps(), log }, { home });
  return { rows: (await store.inbox.unfinished()).length, notices: store.health.notices(), lines: log.lines };
}

test("a log that a kill has left is no damage, and all of its rows are there", async () => {
  await using home = await killedHome();
  expect(await findWalDamage(home.file)).toBeNull();
  const { rows, notices } = await rowsAfterOpening(home.path);
  expect([rows, notices, (await readdir(home.path)).includes("damaged")]).toEqual([COMMITS, [], false]);
});

test("a process that is killed while it writes leaves no damage behind", async () => {
  await using home = await tempHome();
  for (let round = 0; round < 3; round++) {
    await using child = await startStoreChild(["accept", home.path]);
    for (let n = 0; n < 40; n++) await child.line();
    await child.kill();
    expect(await findWalDamage(join(home.path, "gateway.db"))).toBeNull();
  }
});

const UNFINISHED: readonly (readonly [string, (wal: Buffer) => Buffer])[] = [
  ["half a frame", (wal) => Buffer.concat([wal, wal.subarray(HEADER, HEADER + 1_000)])],
  ["frames of the log before it, with another salt", (wal) => Buffer.concat([wal, otherSalt(wal, 5)])],
  ["a frame of this log over one of the log before", (wal) => Buffer.concat([wal, torn(wal), otherSalt(wal, 5)])],
  ["frames without a commit", (wal) => Buffer.concat([wal, withoutCommit(wal, 6)])],
];

/** Frames that were there when the log began anew. */
function otherSalt(wal: Buffer, count: number): Buffer {
  const frames = Buffer.from(wal.subarray(HEADER, HEADER + count * FRAME));
  for (let n = 0; n < count; n++) frames.writeUInt32BE(7, n * FRAME + 8);
  return frames;
}

/** A header was written and its page was not. */
function torn(wal: Buffer): Buffer {
  const frame = Buffer.from(wal.subarray(HEADER, HEADER + FRAME));
  frame.fill(0x5a, 24);
  return frame;
}

/** What a large transaction leaves that was rolled back: one frame follows from the other, and none ends a transaction. */
function withoutCommit(wal: Buffer, count: number): Buffer {
  const frames = Buffer.from(wal.subarray(HEADER, HEADER + count * FRAME));
  for (let n = 0; n < count; n++) frames.writeUInt32BE(0, n * FRAME + 4);
  return frames;
}

test.each(UNFINISHED)("%s at the end of the log is an unfinished write and no damage", async (_name, extend) => {
  await using home = await killedHome();
  await writeFile(home.wal, extend(await readFile(home.wal)));
  expect(await findWalDamage(home.file)).toBeNull();
  expect((await rowsAfterOpening(home.path)).rows).toBe(COMMITS);
});

/** Where a bit may flip in a frame: each field of its header, and its page. */
const PLACES = { "page number": 1, "commit mark": 7, salt: 10, checksum: 20, "page content": 24 + 2_000 };

for (const witness of ["with its index", "without its index"] as const)
  test.each(Object.entries(PLACES))(
    `a flipped bit in the %s of a frame is noticed ${witness}`,
    async (_name, place) => {
      await using home = await killedHome();
      if (witness === "without its index") await rm(home.shm);
      const at = Math.floor(home.frames / 2);
      await home.flip(HEADER + at * FRAME + place);
      const damage = await findWalDamage(home.file);
      expect(damage).toMatchObject({ missingCommits: expect.any(Number), databaseIsNewer: false });
      expect(damage?.readableFrames).toBeLessThanOrEqual(at);
      expect((damage?.readableFrames ?? 0) + (damage?.missingFrames ?? 0)).toBe(home.frames);
    },
  );

test.each([
  ["magic number", 0],
  ["page size", 10],
  ["salt", 17],
  ["checksum", 25],
])("a flipped bit in the %s of the log's header is noticed, with and without the index", async (_name, at) => {
  await using home = await killedHome();
  await home.flip(at);
  expect(await findWalDamage(home.file)).toMatchObject({ missingFrames: home.frames, readableFrames: 0 });
  await rm(home.shm);
  expect(await findWalDamage(home.file)).toMatchObject({ readableFrames: 0, missingCommits: expect.any(Number) });
});

test("a log that was cut is noticed by its index, which knows how long it was; without the index nobody can know", async () => {
  await using home = await killedHome();
  for (const keep of [home.frames - 1, Math.floor(home.frames / 2), 0]) {
    await truncate(home.wal, HEADER + keep * FRAME);
    const damage = await findWalDamage(home.file);
    expect((damage?.readableFrames ?? 0) + (damage?.missingFrames ?? 0)).toBe(home.frames);
    expect(damage?.missingCommits).toBeNull();
  }
  await truncate(home.wal, 0);
  expect(await findWalDamage(home.file)).toMatchObject({ missingFrames: home.frames });
  await rm(home.wal);
  expect(await findWalDamage(home.file)).toMatchObject({ missingFrames: home.frames });
  await rm(home.shm);
  expect(await findWalDamage(home.file)).toBeNull();
});

test("a damaged log is kept as it was, the log and the status say what is missing, and the rest opens", async () => {
  await using home = await killedHome();
  await home.flip(HEADER + Math.floor(home.frames / 2) * FRAME + 2_000);
  const before = await readFile(home.wal);
  const { rows, notices, lines } = await rowsAfterOpening(home.path);
  expect([rows > 0, rows < COMMITS]).toEqual([true, true]);
  const kept = (await readdir(join(home.path, "damaged"))).toSorted();
  expect(kept.map((name) => name.replace(/^[-\dTZ]+/, ""))).toEqual(["gateway.db-wal", "gateway.db-wal.json"]);
  expect((await readFile(join(home.path, "damaged", kept[0] ?? ""))).equals(before)).toBe(true);
  const said = /at least \d+ pages of at least \d+ commits are missing/;
  expect(lines.find(({ level }) => level === "error")?.words).toMatch(said);
  expect(notices).toEqual([expect.stringMatching(said)]);
  expect((await checkStore(home.path)).kept).toEqual(notices);
  expect((await rowsAfterOpening(home.path)).notices).toEqual(notices); // until a person removes it
  await rm(join(home.path, "damaged"), { recursive: true });
  expect((await rowsAfterOpening(home.path)).notices).toEqual([]);
});

test("doctor and the audit check report a damaged log and leave it and its index as they were", async () => {
  await using home = await killedHome();
  await truncate(home.wal, HEADER + 3 * FRAME);
  const files = async () => [await readFile(home.file), await readFile(home.wal), await readFile(home.shm)];
  const before = await files();
  expect(await checkStore(home.path)).toMatchObject({ kind: "log_damaged", say: expect.stringContaining("missing") });
  expect((await verifyAudit(home.path)).kind).toBe("unverifiable");
  const after = await files();
  expect(after.map((bytes, n) => bytes.equals(before[n] ?? Buffer.alloc(0)))).toEqual([true, true, true]);
});

test("a damaged log whose content is in the database already loses nothing, and old pages do not cover new ones", async () => {
  await using home = await killedHome({ checkpoint: true });
  await home.flip(HEADER + Math.floor(home.frames / 2) * FRAME + 2_000);
  expect(await findWalDamage(home.file)).toMatchObject({ missingFrames: 0, databaseIsNewer: true });
  const { rows, notices } = await rowsAfterOpening(home.path);
  expect([rows, notices]).toEqual([COMMITS, [expect.stringContaining("nothing is missing")]]);
});

test("a damaged log of which no copy can be kept stops the start, and nothing is changed", async () => {
  await using home = await killedHome();
  await home.flip(HEADER + 3 * FRAME + 2_000);
  await writeFile(join(home.path, "damaged"), "a file in the place of the folder");
  const before = await readFile(home.wal);
  await expect(openStore(deps(), { home: home.path })).rejects.toMatchObject({ code: "home_unusable" });
  expect((await readFile(home.wal)).equals(before)).toBe(true);
});

interface Judged {
  readonly name: string;
  readonly committed: number;
  readonly unreachable?: { readonly frames: number; readonly commits: number };
  readonly index?: { readonly frames: number; readonly backfilled: number };
  readonly damage: Partial<WalDamage> | null;
}

const JUDGED: readonly Judged[] = [
  { name: "nothing behind the last commit", committed: 9, damage: null },
  { name: "an index that agrees", committed: 9, index: { frames: 9, backfilled: 0 }, damage: null },
  {
    name: "an index that knows less, as after a kill in the middle of a commit",
    committed: 9,
    index: { frames: 5, backfilled: 0 },
    damage: null,
  },
  {
    name: "an index that knows more",
    committed: 9,
    index: { frames: 12, backfilled: 0 },
    damage: { missingFrames: 3, missingCommits: null },
  },
  {
    name: "commits behind a bad frame",
    committed: 9,
    unreachable: { frames: 4, commits: 2 },
    damage: { missingFrames: 4, missingCommits: 2 },
  },
  {
    name: "both witnesses",
    committed: 9,
    unreachable: { frames: 4, commits: 2 },
    index: { frames: 15, backfilled: 0 },
    damage: { missingFrames: 6, missingCommits: 2 },
  },
  {
    name: "an unreadable log that was in the database",
    committed: 0,
    index: { frames: 12, backfilled: 12 },
    damage: null,
  },
  {
    name: "a checkpoint that was ahead",
    committed: 4,
    unreachable: { frames: 3, commits: 1 },
    index: { frames: 9, backfilled: 8 },
    damage: { missingFrames: 1, databaseIsNewer: true },
  },
  {
    name: "a checkpoint that was behind",
    committed: 4,
    unreachable: { frames: 3, commits: 1 },
    index: { frames: 9, backfilled: 3 },
    damage: { missingFrames: 5, databaseIsNewer: false },
  },
];

for (const { name, committed, unreachable = { frames: 0, commits: 0 }, index = null, damage } of JUDGED)
  test(`judges ${name}`, () => {
    const found = judge({ committed, unreachable }, index);
    if (damage === null) expect(found).toBeNull();
    else expect(found).toMatchObject(damage);
  });

/** Writes without a pause until it is ended; says a word when it has begun. */
const WRITER = `
  const { Database } = require("bun:sqlite");
  const db = new Database(process.argv[1]);
  db.exec("pragma journal_mode = wal; pragma synchronous = normal; create table if not exists t (x text)");
  const add = db.prepare("insert into t values (?)");
  console.log("begun");
  for (;;) db.transaction(() => { for (let n = 0; n < 20; n++) add.run("x".repeat(3000)); })();
`;
const LOOKS = 25;

test("the log of a gateway that is writing is never taken for damaged, however often it is looked at", async () => {
  await using home = await tempHome();
  const file = join(home.path, "busy.db");
  await using writer = Bun.spawn([process.execPath, "-e", WRITER, file], { stdio: ["ignore", "pipe", "inherit"] });
  await writer.stdout.getReader().read();
  const found: WalDamage[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const damage = await findWalDamage(file);
    if (damage) found.push(damage);
  }
  writer.kill("SIGKILL");
  await writer.exited;
  expect(found).toEqual([]);
});
