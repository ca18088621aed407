/**
 * A thread that watches the gateway's database and kills a process the moment a count is reached: right after a message was stored, a turn
 * begun or ended, a reply marked as sent. Microseconds matter here: the next write of the victim must not happen any more.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { storeUrlOf } from "../postgres/home-database.ts";

export const MOMENTS = ["stored", "begun", "ended", "sent"] as const;
/** `fired`: the slot of a job has its row. */
export type Moment = (typeof MOMENTS)[number] | "fired";

interface KillOrder {
  /** The state directory of the process. */
  readonly home: string;
  readonly pid: number;
  readonly moment: Moment;
  /** Kills when this many have happened since the order was given. */
  readonly nth: number;
}

/** `armed` when it watches, `killed` when it has struck. */
type KillReport = "armed" | "killed";

const COUNTS: Readonly<Record<Moment, string>> = {
  stored: "select cast(count(*) as int) as n from inbox",
  begun: "select cast(count(*) as int) as n from turns",
  ended: "select cast(count(*) as int) as n from turns where state <> 'running'",
  fired: "select cast(count(*) as int) as n from job_runs",
  sent: "select cast(count(*) as int) as n from outbox where state = 'sent'",
};

interface KillAt extends Disposable {
  readonly armed: Promise<void>;
  readonly killed: Promise<void>;
}

export function killAt(order: KillOrder): KillAt {
  const worker = new Worker(new URL(import.meta.url));
  const armed = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  worker.on("message", (report: KillReport) => (report === "armed" ? armed.resolve() : killed.resolve()));
  worker.on("error", () => {
    armed.resolve(); // it could not watch, or its victim was gone before it struck: the round goes on with a plain kill
    killed.resolve();
  });
  worker.postMessage(order);
  return { armed: armed.promise, killed: killed.promise, [Symbol.dispose]: () => void worker.terminate() };
}

if (!isMainThread) parentPort?.on("message", watchAndKill);

interface Counter extends AsyncDisposable {
  /** Some looks, one after the other, until the count is reached or something else may be done. */
  reached(goal: number): Promise<boolean>;
  now(): Promise<number>;
}

const LOOKS = 2_000;

async function watchAndKill({ home, pid, moment, nth }: KillOrder): Promise<void> {
  const url = await storeUrlOf(home);
  const counter = url ? countInPostgres(url.reveal(), COUNTS[moment]) : countInFile(home, COUNTS[moment]);
  const goal = (await counter.now()) + nth;
  parentPort?.postMessage("armed" satisfies KillReport);
  const look = async (): Promise<void> => {
    if (!(await counter.reached(goal))) return void setImmediate(look); // so that the thread can be told to stop
    process.kill(pid, "SIGKILL");
    parentPort?.postMessage("killed" satisfies KillReport);
    await counter[Symbol.asyncDispose]();
  };
  await look();
}

/** In one go: a pause of the event loop between two looks would be longer than the victim needs for its next write. */
function countInFile(home: string, text: string): Counter {
  const db = new Database(join(home, "gateway.db"), { readonly: true });
  const statement = db.prepare<{ n: number }, []>(text);
  const count = (): number => statement.get()?.n ?? 0;
  return {
    now: async () => count(),
    async reached(goal) {
      for (let looks = 0; looks < LOOKS; looks++) if (count() >= goal) return true;
      return false;
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

function countInPostgres(url: string, text: string): Counter {
  const sql = new Bun.SQL(url, { max: 1 });
  const now = async (): Promise<number> => ((await sql.unsafe(text)) as { n: number }[])[0]?.n ?? 0;
  return { now, reached: async (goal) => (await now()) >= goal, [Symbol.asyncDispose]: () => sql.close() };
}
