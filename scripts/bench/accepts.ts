/** Durable accepts per second against raw SQLite with the same durability, rows and indexes, one by one and in batches, in one run. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { InboxId } from "../../src/contracts/ids.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { openStore } from "../../src/store/index.ts";
import { entry } from "../../src/testing/messages.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { atLeast, type Scenario } from "./parts/line.ts";
import { median, round } from "./parts/stats.ts";

export interface AcceptFigures {
  readonly oneByOne: Compared;
  readonly batchesOf50: Compared;
}

export interface Compared {
  readonly storePerSecond: number;
  readonly rawPerSecond: number;
  readonly ratio: number;
}

const BATCH = 50;
const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };

export async function measureAccepts(rounds: number): Promise<AcceptFigures> {
  await using home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  await using raw = await openRaw();
  const accept = () => store.inbox.accept({ ...entry("bench", "hello"), id: systemIds.next("msg") as InboxId });
  const ours = (count: number) => Promise.all(Array.from({ length: count }, accept));
  return {
    oneByOne: await compare(rounds, { rows: 200, batch: 1 }, { ours, raw: raw.insert }),
    batchesOf50: await compare(rounds, { rows: 20 * BATCH, batch: BATCH }, { ours, raw: raw.insert }),
  };
}

type Write = (count: number) => unknown;

/** Alternates the two, so that a noisy moment hits both. */
async function compare(
  rounds: number,
  size: { rows: number; batch: number },
  writers: { ours: Write; raw: Write },
): Promise<Compared> {
  const rates = { ours: [] as number[], raw: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["ours", "raw"] as const) {
      const started = performance.now();
      for (let done = 0; done < size.rows; done += size.batch) await writers[name](size.batch);
      if (round > 0) rates[name].push(size.rows / ((performance.now() - started) / 1_000)); // the first round warms up
    }
  }
  const [storePerSecond, rawPerSecond] = [Math.round(median(rates.ours)), Math.round(median(rates.raw))];
  return { storePerSecond, rawPerSecond, ratio: round(storePerSecond / rawPerSecond) };
}

/** The same tables, indexes and rows as ours, written with plain prepared statements in one transaction and nothing around it. */
async function openRaw() {
  const home = await tempHome();
  await (await openStore(DEPS, { home: home.path }))[Symbol.asyncDispose](); // makes the tables
  const db = new Database(join(home.path, "gateway.db"), { readwrite: true });
  db.exec("pragma journal_mode = wal; pragma synchronous = full;");
  const touch = db.query(
    "update sessions set messages = messages + 1, last_activity_at = max(last_activity_at, ?2) where key = ?1",
  );
  const addSession = db.query(
    "insert into sessions (key, channel, agent_id, title, search_text, created_at, last_activity_at, messages, file) values (?, ?, ?, ?, ?, ?, ?, 1, ?)",
  );
  const insert = db.query(
    "insert into inbox (id, session_key, agent_id, role, priority, channel, account, chat, event_id, fingerprint, scope, sender, sender_name, text, attachments, mentioned, received_at, done) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', 1, ?, 0) on conflict (channel, account, event_id) do nothing",
  );
  const write = db.transaction((count: number) => {
    for (let n = 0; n < count; n++) {
      const { message, sessionKey, agentId, role, priority } = entry("bench", "hello");
      const { channel, account, chat } = message.address;
      const { eventId, fingerprint, scope, sender, text, receivedAt } = message;
      insert.run(
        systemIds.next("msg"),
        sessionKey,
        agentId,
        role,
        priority,
        channel,
        account,
        chat,
        eventId,
        fingerprint,
        scope,
        sender.principal,
        sender.name,
        text,
        receivedAt,
      );
      if (touch.run(sessionKey, receivedAt).changes === 0)
        addSession.run(sessionKey, channel, agentId, text, text, receivedAt, receivedAt, "x");
    }
  });
  return {
    insert: (count: number) => write(count),
    async [Symbol.asyncDispose]() {
      db.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

export const accepts: Scenario = {
  name: "accepts",
  async measure(scale) {
    const { oneByOne, batchesOf50 } = await measureAccepts(Math.max(2, Math.round(10 * scale)));
    return [
      { what: "durable accepts, one by one", value: oneByOne.storePerSecond, unit: "/s" },
      { what: "  as a share of raw SQLite", value: oneByOne.ratio, unit: "x", ...atLeast(0.8) },
      { what: "durable accepts, batches of 50", value: batchesOf50.storePerSecond, unit: "/s" },
      { what: "  as a share of raw SQLite ", value: batchesOf50.ratio, unit: "x", ...atLeast(0.8) },
    ];
  },
};
