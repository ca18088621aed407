/** Damage in a full-text index: messages are stored all the same, the index is made anew, and nothing is lost. The pages are really damaged. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { note } from "../../testing/contracts/store/notes-contract.ts";
import { end, OPERATOR, row, turn } from "../../testing/contracts/store/store-world.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { retention } from "../migrations/038-retention.ts";
import { checkStore, openStore, snapshotDatabase } from "../index.ts";

const MESSAGES = 400;
const PAGE_BYTES = 4_096;
/** Above this a start does not read every page of a database that was closed in order. */
const UNREAD_AT_START_BYTES = 5 * 1024 * 1024;

const open = (home: string, log = recordingLog()) =>
  openStore({ clock: systemClock, ids: createSeqIds(), log }, { home });

/** A database with messages, closed in order. */
async function filledHome({ large }: { readonly large: boolean }) {
  const home = await tempHome();
  {
    await using store = await open(home.path);
    const accept = (n: number) => store.inbox.accept(row(`in${n}`, "a", { text: `letter${n} about the harbour` }));
    await Promise.all(Array.from({ length: MESSAGES }, (_, n) => accept(n)));
    await store.turns.begin(turn("t1", "a", ["in0"]));
    await store.turns.finish(end("t1"));
    await found(store, "letter0"); // a search waits until the index has everything
  }
  const file = join(home.path, "gateway.db");
  if (large) {
    using db = new Database(file);
    const words = "x".repeat(UNREAD_AT_START_BYTES);
    db.run("insert into spoken_words (digest, words, at) values ('large', ?, 1)", [words]);
  }
  return { ...home, file };
}

type PageKind = "leaf" | "internal";

/** Overwrites the pages of a table. */
async function damage(file: string, table: string, kind: PageKind, fill: number): Promise<number> {
  const pages = pagesOf(file, table, kind);
  const bytes = await readFile(file);
  for (const page of pages) bytes.fill(fill, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
  await writeFile(file, bytes);
  return pages.length;
}

function pagesOf(file: string, table: string, kind: PageKind): readonly number[] {
  using db = new Database(file);
  db.exec("pragma wal_checkpoint(truncate)");
  const pages = db
    .query<{ pageno: number; pagetype: string }, [string]>("select pageno, pagetype from dbstat where name = ?")
    .all(table);
  return pages.filter(({ pagetype }) => pagetype === kind).map(({ pageno }) => pageno);
}

const found = async (store: Store, words: string) =>
  (await store.sessions.searchMessages({ words }, { limit: 5 })).items.map(({ id }) => id);

const isFilled = (store: Store) =>
  waitFor("the index is full again", () => !store.health.notices().some((notice) => notice.includes("made anew")));

test.each([
  ["leaf", 0x00],
  ["leaf", 0xff],
  ["internal", 0x00],
] as const)(
  "a message is stored although %s pages of the search index hold only %p, and all messages are found again",
  async (kind, fill) => {
    await using home = await filledHome({ large: true });
    expect(await damage(home.file, "message_index_data", kind, fill)).toBeGreaterThan(0);
    const log = recordingLog();
    await using store = await open(home.path, log);
    expect(log.lines.map(({ words }) => words)).not.toContain("full-text index is damaged and is made anew");
    const accepted = Array.from({ length: 30 }, (_, n) =>
      store.inbox.accept(row(`new${n}`, "b", { text: `postcard${n} from the island` })),
    );
    expect((await Promise.all(accepted)).every(({ kind: outcome }) => outcome === "stored")).toBe(true);
    await found(store, "postcard7"); // meets the damage, as the index does by itself soon after the messages
    await isFilled(store);
    expect(log.lines.map(({ words }) => words)).toContain("full-text index is damaged and is made anew");
    expect([await found(store, "postcard7"), await found(store, "letter399"), await found(store, "letter0")]).toEqual([
      ["new7"],
      ["in399"],
      ["in0"],
    ]);
    expect(await found(store, "answer")).toEqual(["t1:0"]);
    expect([store.health.hasFailed(), await store.health.isWritable()]).toEqual([false, true]);
    expect((await store.inbox.unfinished()).length).toBe(MESSAGES - 1 + 30);
  },
);

test("a start that reads every page makes a damaged search index anew, and doctor says of it what it is", async () => {
  await using home = await filledHome({ large: false });
  await damage(home.file, "message_index_data", "leaf", 0);
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", indexDamaged: true });
  {
    await using _store = await open(home.path); // ends before the index is full
  }
  const log = recordingLog();
  await using store = await open(home.path, log);
  await waitFor("the index is full again", () =>
    log.lines.some(({ words }) => words === "full-text index is full again"),
  );
  expect([await found(store, "letter101"), await found(store, "harbour letter399")]).toEqual([["in101"], ["in399"]]);
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", indexDamaged: false });
});

test("an index that could not be removed is gone after the next start, and then a backup can be made again", async () => {
  await using home = await filledHome({ large: true });
  await damage(home.file, "message_index_data", "leaf", 0);
  const copy = (name: string) =>
    snapshotDatabase(home.path, join(home.path, name), AbortSignal.timeout(10_000)).catch(
      (error: Error) => error.message,
    );
  {
    await using store = await open(home.path);
    await found(store, "harbour");
    await isFilled(store);
    expect(store.health.notices()).toEqual([expect.stringContaining("Restart the gateway")]);
    expect(await copy("while-aside.db")).toContain("malformed");
  }
  await using store = await open(home.path);
  expect([await found(store, "letter101"), store.health.notices()]).toEqual([["in101"], []]);
  expect(await copy("after.db")).toBe(true);
  expect(await checkStore(home.path)).toMatchObject({ kind: "ok", indexDamaged: false });
});

test("a database of an earlier version is brought up to date although its search index cannot be read", async () => {
  await using home = await filledHome({ large: false });
  {
    using db = new Database(home.file);
    const made = retention.sql.matchAll(/create index (\w+)/g);
    for (const [, name] of made) db.exec(`drop index ${name}`);
    db.exec("delete from migrations where name = 'retention'");
  }
  await damage(home.file, "message_index_data", "leaf", 0);
  const log = recordingLog();
  await using store = await open(home.path, log);
  expect(log.lines.map(({ words }) => words)).toContain("database brought up to date");
  expect(await store.inbox.accept(row("new", "b", { text: "hello" }))).toMatchObject({ kind: "stored" });
});

test("a search that meets the damage finds what there is, and a note is stored although its index is damaged", async () => {
  await using home = await filledHome({ large: true });
  {
    await using store = await open(home.path);
    for (let n = 0; n < 200; n++) await store.notes.save(note({ title: `list ${n}`, content: `milk${n} and bread` }));
  }
  await damage(home.file, "message_index_data", "leaf", 0);
  await damage(home.file, "notes_index_data", "leaf", 0);
  await using store = await open(home.path);
  await found(store, "harbour");
  await isFilled(store);
  expect(await found(store, "letter117")).toEqual(["in117"]);
  expect(await store.notes.save(note({ title: "harbour", content: "boats" }))).toMatchObject({ kind: "kept" });
  expect((await store.notes.search(OPERATOR, "harbour", 5)).length).toBe(1);
});

test("damage that is not in an index is not mended by making one anew", async () => {
  await using home = await filledHome({ large: true });
  await damage(home.file, "tasks", "leaf", 0);
  await using store = await open(home.path);
  const asked = { askedBy: { turnId: "t1" as TurnId, callId: "c1" }, owner: OPERATOR, at: 1 };
  const task = {
    ...asked,
    id: "00000000-0000-4000-8000-000000000001",
    title: "x",
    dueDate: null,
    priority: "low" as const,
  };
  const outcome = await store.tasks.add(task).catch((error: Error) => error.message);
  expect(String(outcome)).toContain("malformed");
  expect(store.health.hasFailed()).toBe(true);
});
