/** The SQLite store against the promises of every store, and against those that are its own. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InboxId, MediaId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { NO_MASK } from "../kit/secret.ts";
import { runSessionsContract } from "../testing/contracts/automation/run-sessions-contract.ts";
import { eventsAndSessionChatsContract } from "../testing/contracts/automation/events-and-session-chats-contract.ts";
import { usageContract } from "../testing/contracts/store/usage-contract.ts";
import { approvalContract } from "../testing/contracts/store/approval-contract.ts";
import { storeContract } from "../testing/contracts/store/store-contract.ts";
import {
  AGENT,
  end,
  HERE,
  OPERATOR,
  row,
  sessionKey,
  type StoreWorld,
  turn,
} from "../testing/contracts/store/store-world.ts";
import { turnTraceContract } from "../testing/contracts/store/turn-trace-contract.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { notesContract } from "../testing/contracts/store/notes-contract.ts";
import { apiKeyContract } from "../testing/contracts/store/api-key-contract.ts";
import { responseContract } from "../testing/contracts/store/response-contract.ts";
import { auditContract } from "../testing/contracts/store/audit-contract.ts";
import { jobContract } from "../testing/contracts/automation/job-contract.ts";
import { hookMarkContract } from "../testing/contracts/automation/hook-mark-contract.ts";
import { outboxContract } from "../testing/contracts/store/outbox-contract.ts";
import { blankDisk } from "../testing/disk.ts";
import { tempHome } from "../testing/temp-home.ts";
import { openStore } from "./index.ts";

function deps() {
  return { clock: systemClock, ids: createSeqIds(), log: recordingLog() };
}

/** Tables that are made once: making them is most of what an empty store costs. The tests of this file itself make theirs. */
let blank: Uint8Array | null = null;

async function openWorld(): Promise<StoreWorld> {
  await using building = new AsyncDisposableStack(); // a store that does not open leaves no folder behind
  const home = building.use(await tempHome());
  await writeFile(join(home.path, "gateway.db"), (blank ??= blankDisk()), { mode: 0o600 });
  const ids = createSeqIds(); // each gateway has an id of its own
  const open = (): Promise<Store> => openStore({ ...deps(), ids }, { home: home.path });
  let store = await open();
  const rest = building.move();
  return {
    store,
    async reopen() {
      await store[Symbol.asyncDispose]();
      store = await open();
      return store;
    },
    async openSecond() {
      return rest.use(await open());
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rest.disposeAsync();
    },
  };
}

storeContract("a SQLite store", openWorld);
turnTraceContract("a SQLite store", openWorld);
hookMarkContract("a SQLite store", openWorld);
jobContract("the jobs of a SQLite store", openWorld);
auditContract("the audit log of a SQLite store", openWorld);
apiKeyContract("keys of programs in a SQLite store", openWorld);
responseContract("responses in a SQLite store", openWorld);

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

test("a store that was closed leaves one whole file and answers nothing more", async () => {
  await using home = await tempHome();
  const store = await openStore(deps(), { home: home.path });
  const last = store.inbox.accept(row("in1", "a"));
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  expect(await last).toMatchObject({ kind: "stored" });
  expect((await readdir(home.path)).toSorted()).toEqual(["audit.key", "gateway.db"]);
  await expect(store.inbox.accept(row("in2", "a"))).rejects.toMatchObject({ code: "stopping" });
  await expect(store.inbox.unfinished()).rejects.toMatchObject({ code: "stopping" });
});

test("a start logs the id of its gateway, which no other start has", async () => {
  await using home = await tempHome();
  const log = recordingLog();
  const ids = createSeqIds();
  for (let start = 0; start < 2; start++) {
    await using _store = await openStore({ ...deps(), ids, log }, { home: home.path });
  }
  const opened = log.lines.filter(({ words }) => words === "store opened").map(({ fields }) => fields.instanceId);
  expect(opened).toEqual(["gateway_000001", "gateway_000002"]);
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

test("a message from a session key with quotes and patterns is stored under exactly that key", async () => {
  await using home = await tempHome();
  await using store = await openStore(deps(), { home: home.path });
  const key = `agent:x:'; drop table inbox; --%_\u0000"` as SessionKey;
  await store.inbox.accept({ ...row("in1", "a"), sessionKey: key });
  await store.turns.begin({ ...turn("t1", "a", ["in1"]), sessionKey: key });
  expect((await store.sessions.get(key))?.key).toBe(key);
  expect(await store.inbox.unfinished()).toHaveLength(1);
});

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

runSessionsContract("the sessions of runs in a SQLite store", openWorld);
eventsAndSessionChatsContract("the events and session chats of a SQLite store", openWorld);
outboxContract("the outbox of a SQLite store", openWorld);
notesContract("the notes and tasks of a SQLite store", openWorld);
usageContract("the usage ledger of a SQLite store", openWorld);
approvalContract("the approvals of a SQLite store", openWorld);

test("a message in the outbox is stored without secrets, whichever method put it there", async () => {
  await using home = await tempHome();
  const mask = { ...NO_MASK, text: (text: string) => text.replaceAll("operator-token-42", "[redacted]") };
  await using store = await openStore({ ...deps(), mask }, { home: home.path });
  const file = { mediaId: "media_1" as MediaId, name: "operator-token-42.png", mimeType: "image/png", bytes: 1 };
  const message = { text: "it is operator-token-42", kind: "reply", attachments: [file] } as const;
  const reply = [{ part: 0, message }];
  for (const n of [1, 2, 3]) await store.inbox.accept(row(`in${n}`, "a"));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  const to = { turnId: "t1" as TurnId, sessionKey: sessionKey("a"), to: HERE, at: 1 };
  const ways: Record<string, () => Promise<unknown>> = {
    post: () => store.outbox.post({ ...to, onceKey: "x", message }),
    finish: () =>
      store.turns.finish(
        end("t1", {
          outcome: "failed",
          reply,
          error: { code: "internal", detail: "operator-token-42" },
          spans: [{ name: "tool:operator-token-42", startMs: 0, ms: 1 }],
        }),
      ),
    endUnbegun: () =>
      store.turns.endUnbegun({
        ...to,
        turnId: "t2" as TurnId,
        agentId: AGENT,
        inboxIds: ["in2" as InboxId],
        outcome: "aborted",
        reply,
      }),
    say: () =>
      store.sessionChats.say({
        ...to,
        turnId: "t3" as TurnId,
        sessionKey: sessionKey("b"),
        agentId: AGENT,
        principal: OPERATOR,
        reply,
      }),
    wait: () => {
      const tried = { attempts: 1, lost: 0, delivered: 0, doubt: false, firstTriedAt: 1, nextTryAt: 2 };
      return store.outbox.markWaiting("t1:0", { ...tried, because: "operator-token-42" });
    },
    settle: () => store.outbox.settle("t2:0", { state: "dead", because: "at operator-token-42" }, 3),
    noteInChat: () => store.outbox.noteInChat("t1:0", "operator-token-42 did not arrive", 4),
    rewrite: () => store.outbox.rewrite(sessionKey("a"), "t1:0", "now it is operator-token-42", 2),
  };
  for (const [way, write] of Object.entries(ways)) expect([way, await write()]).not.toEqual([way, false]);
  const seen = JSON.stringify([
    await Promise.all((await store.outbox.pending(100)).map(({ id }) => store.outbox.part(id))),
    await Promise.all(["a", "b"].map((name) => store.sessions.transcript(sessionKey(name), { limit: 100 }))),
    await store.outbox.list("dead", { limit: 100 }),
    await store.sessions.list({}, { limit: 100 }),
    await store.turns.list({}, { limit: 100 }),
    await store.turns.get("t1" as TurnId),
  ]);
  expect(seen).not.toContain("operator-token-42");
  using db = new Database(join(home.path, "gateway.db"), { readonly: true }); // why a part waits is told to nobody, and is on the disk
  expect(JSON.stringify(db.prepare("select * from outbox").all())).not.toContain("operator-token-42");
  expect(seen.split("it is [redacted]").length - 1).toBeGreaterThanOrEqual(8); // four parts, read in two places each
});

test("every door of the store has promises that another engine can be held to", async () => {
  const contracts = join(import.meta.dir, "../testing/contracts");
  const files = [...new Bun.Glob("**/*.ts").scanSync(contracts)];
  const text = (await Promise.all(files.map((file) => Bun.file(join(contracts, file)).text()))).join("\n");
  await using world = await openWorld();
  const doors = Object.keys(world.store).filter((door) => !["health", "epoch"].includes(door)); // of this engine, and a number
  expect(doors.length).toBeGreaterThan(20);
  expect(doors.filter((door) => !new RegExp(`\\b${door}\\b`).test(text))).toEqual([]);
});
