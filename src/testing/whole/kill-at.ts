/**
 * A thread that watches the gateway's database and kills a process the moment a count is reached: right after a message was stored, a turn
 * begun or ended, a reply marked as sent. Microseconds matter here: the next write of the victim must not happen any more.
 */
import { Database } from "bun:sqlite";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

export const MOMENTS = ["stored", "begun", "ended", "sent"] as const;
/** `fired`: the slot of a job has its row. */
export type Moment = (typeof MOMENTS)[number] | "fired";

interface KillOrder {
  readonly database: string;
  readonly pid: number;
  readonly moment: Moment;
  /** Kills when this many have happened since the order was given. */
  readonly nth: number;
}

/** `armed` when it watches, `killed` when it has struck. */
type KillReport = "armed" | "killed";

const COUNTS: Readonly<Record<Moment, string>> = {
  stored: "select count(*) as n from inbox",
  begun: "select count(*) as n from turns",
  ended: "select count(*) as n from turns where state <> 'running'",
  fired: "select count(*) as n from job_runs",
  sent: "select count(*) as n from outbox where state = 'sent'",
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

function watchAndKill({ database, pid, moment, nth }: KillOrder): void {
  const db = new Database(database, { readonly: true });
  const count = db.prepare<{ n: number }, []>(COUNTS[moment]);
  const goal = (count.get()?.n ?? 0) + nth;
  parentPort?.postMessage("armed" satisfies KillReport);
  const look = (): void => {
    for (let tries = 0; tries < 2_000; tries++) {
      if ((count.get()?.n ?? 0) < goal) continue;
      process.kill(pid, "SIGKILL");
      db.close();
      parentPort?.postMessage("killed" satisfies KillReport);
      return;
    }
    setImmediate(look); // so that the thread can be told to stop
  };
  look();
}
