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
import { median, round } from "./stats.ts";

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

export async function measureAccepts(rounds: number): Promise<AcceptFigures> {
  await using home = await tempHome();
  await using store = await openStore({ clock: systemClock, ids: systemIds, log: silentLog }, { home: home.path });
  const raw = openRaw(join(home.path, "raw.db"));
  const accept = () =>
    store.inbox.accept({
      ...entry("bench", "hello"),
      id: systemIds.next("msg") as InboxId,
    });
  const acceptMany = (count: number) => Promise.all(Array.from({ length: count }, accept));
  try {
    return {
      oneByOne: await compare(rounds, { rows: 200, batch: 1 }, { ours: acceptMany, raw: raw.insert }),
      batchesOf50: await compare(rounds, { rows: 20 * BATCH, batch: BATCH }, { ours: acceptMany, raw: raw.insert }),
    };
  } finally {
    raw.close();
  }
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

/** The columns and indexes of an accepted message, and the touch of its session, without anything of ours around it. */
function openRaw(path: string) {
  const db = new Database(path, { create: true });
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
  db.exec(`CREATE TABLE sessions (key TEXT PRIMARY KEY, last_activity_at INTEGER, messages INTEGER) WITHOUT ROWID;
    CREATE TABLE inbox (ordinal INTEGER PRIMARY KEY, id TEXT UNIQUE, session_key TEXT, channel TEXT, account TEXT, event_id TEXT, message TEXT, at INTEGER);
    CREATE UNIQUE INDEX inbox_event ON inbox (channel, account, event_id);
    CREATE INDEX inbox_session ON inbox (session_key, ordinal);`);
  const touch = db.query(
    "INSERT INTO sessions VALUES (?1, ?2, 1) ON CONFLICT (key) DO UPDATE SET last_activity_at = ?2, messages = messages + 1",
  );
  const insert = db.query(
    "INSERT INTO inbox (id, session_key, channel, account, event_id, message, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const rows = db.transaction((count: number) => {
    for (let n = 0; n < count; n++) {
      const { message, sessionKey } = entry("bench", "hello");
      touch.run(sessionKey, message.receivedAt);
      insert.run(
        systemIds.next("msg"),
        sessionKey,
        message.address.channel,
        message.address.account,
        message.eventId,
        JSON.stringify(message),
        message.receivedAt,
      );
    }
  });
  return { insert: (count: number) => rows(count), close: () => db.close() };
}
