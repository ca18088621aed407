/** What the SQLite store promises beside what every store does: files, their sizes, and lists that stay quick. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaId, Principal, TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { MASK, SECRET, writeSecrets } from "../testing/contracts/store/mask-contract.ts";
import { OPERATOR, row } from "../testing/contracts/store/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openStore } from "./index.ts";

function deps() {
  return { clock: systemClock, ids: createSeqIds(), log: recordingLog() };
}

test("everything in the state directory is private, also the files that SQLite makes by itself", async () => {
  await using home = await tempHome();
  const before = process.umask(0o000);
  try {
    await using store = await openStore(deps(), { home: home.path });
    await store.inbox.accept(row("in1", "a"));
    const file = { owner: OPERATOR, name: "n", mimeType: "t", data: new Uint8Array(4), at: 1 };
    await store.media.put({ ...file, mediaId: "media_1" as MediaId });
    const found = await readdir(home.path, { recursive: true });
    expect(found.filter((name) => name.startsWith("gateway.db")).toSorted()).toEqual([
      "gateway.db",
      "gateway.db-shm",
      "gateway.db-wal",
    ]);
    for (const name of found) {
      const { mode } = await stat(join(home.path, name));
      expect([name, (mode & 0o077).toString(8)]).toEqual([name, "0"]);
    }
  } finally {
    process.umask(before);
  }
});

test("a store that was closed leaves one whole file", async () => {
  await using home = await tempHome();
  const store = await openStore(deps(), { home: home.path });
  await store.inbox.accept(row("in1", "a"));
  await store[Symbol.asyncDispose]();
  expect((await readdir(home.path)).toSorted()).toEqual(["audit.key", "gateway.db"]);
});

test("a start logs the id of its gateway, which no other start has", async () => {
  await using home = await tempHome();
  const log = recordingLog();
  const ids = createSeqIds();
  for (let start = 0; start < 2; start++) {
    await using _store = await openStore({ ...deps(), ids, log }, { home: home.path });
  }
  const opened = log.lines.filter(({ words }) => words === "store opened").map(({ fields }) => fields);
  expect(opened).toMatchObject([
    { epoch: 1, instanceId: "gateway_000001" },
    { epoch: 2, instanceId: "gateway_000002" },
  ]);
});

test("the log file stays small however much is written", async () => {
  await using home = await tempHome();
  await using store = await openStore(deps(), { home: home.path });
  const text = "x".repeat(20_000);
  for (let round = 0; round < 70; round++)
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.inbox.accept(row(`in${round}.${n}`, "a", { text }))));
  expect((await stat(join(home.path, "gateway.db-wal"))).size).toBeLessThan(20 * 1024 * 1024);
});

test("a page of ten thousand sessions comes without sorting them, and costs about as much as one of a hundred", async () => {
  const filled = async (home: string, count: number): Promise<Store> => {
    const store = await openStore(deps(), { home });
    for (let from = 0; from < count; from += 1_000) {
      const rows = Array.from({ length: Math.min(1_000, count) }, (_, n) =>
        row(`in${from}.${n}`, `${from}.${n}`, { receivedAt: n * 10 + from / 1_000 }),
      );
      await Promise.all(rows.map((one) => store.inbox.accept(one)));
    }
    return store;
  };
  /** The best of a few: a busy machine is no slow query. */
  const timed = async (store: Store, filter: Parameters<Store["sessions"]["list"]>[0], rounds: number) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAt = systemClock.elapsed();
      await store.sessions.list(filter, { limit: 50 });
      times.push(systemClock.elapsed() - startedAt);
    }
    return Math.min(...times);
  };
  await using homes = new AsyncDisposableStack();
  const many = homes.use(await filled(homes.use(await tempHome()).path, 10_000));
  const few = homes.use(await filled(homes.use(await tempHome()).path, 100));
  for (const filter of [{}, { search: "5.77" }, { search: "no such words" }, { channel: "webchat" }])
    expect([filter, (await timed(many, filter, 5)) < 50]).toEqual([filter, true]);
  expect((await timed(many, {}, 20)) / (await timed(few, {}, 20))).toBeLessThan(5);
}, 30_000);

test("ten thousand tasks of one person are the most that are kept, and are listed at once; others have room", async () => {
  await using home = await tempHome();
  await using store = await openStore(deps(), { home: home.path });
  const task = (n: number, owner = OPERATOR) => {
    const askedBy = { turnId: "t" as TurnId, callId: `c${n}` };
    return { id: `${owner}-${n}`, owner, title: `task ${n}`, dueDate: null, priority: "low", askedBy, at: n } as const;
  };
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => store.tasks.add(task(round * 1_000 + n))));
  expect(await store.tasks.add(task(10_000))).toEqual({ kind: "full", max: 10_000 });
  expect(await store.tasks.add(task(1, "telegram:user:7" as Principal))).toMatchObject({ kind: "kept" });
  const startedAt = systemClock.elapsed();
  expect(await store.tasks.list(OPERATOR, "all", 10)).toHaveLength(10);
  expect(systemClock.elapsed() - startedAt).toBeLessThan(250);
}, 60_000);

test("why a part waits is stored without secrets, although no method tells it", async () => {
  await using home = await tempHome();
  await using store = await openStore({ ...deps(), mask: MASK }, { home: home.path });
  await writeSecrets(store);
  using db = new Database(join(home.path, "gateway.db"), { readonly: true });
  const stored = JSON.stringify(db.prepare("select * from outbox").all());
  expect([stored.includes("[redacted]"), stored.includes(SECRET)]).toEqual([true, false]);
});
