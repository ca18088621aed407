/**
 * Reads over a few connections. Work that asks one question asks it and is done; work that asks several sees one moment of the database,
 * in a transaction of its own.
 */
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { deferred, type Deferred, orAborted } from "../../kit/deferred.ts";
import { storeFailed } from "../group-commit.ts";
import { type Query, runWaiting, type Steps } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost, postgresFault } from "./faults.ts";

interface ReadDeps {
  readonly clock: Clock;
  connect(): Promise<Connection>;
}

interface Reads {
  read<T>(run: () => Steps<T>): Promise<T>;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 4;
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 100;
/** One moment for all questions. */
const BEGIN = "begin isolation level repeatable read read only";

export function createReads({ clock, connect }: ReadDeps): Reads {
  const closing = new AbortController();
  const pool = createPool(connect);
  /** First questions after which others were asked the last time: such work begins with a transaction at once. */
  const several = new Set<string>();

  const readOnce = async <T>(connection: Connection, run: () => Steps<T>): Promise<T> => {
    const steps = run();
    const first = steps.next();
    if (first.done) return first.value;
    const key = first.value.name ?? "";
    if (!several.has(key)) {
      const answer = await connection.ask(first.value);
      const second = steps.next(answer);
      if (second.done) return second.value;
      if (first.value.name !== null) several.add(key);
    }
    return inOneMoment(connection, run);
  };

  const tryToRead = async <T>(run: () => Steps<T>, signal: AbortSignal): Promise<T> => {
    const connection = await pool.take(signal);
    try {
      return await readOnce(connection, run);
    } finally {
      pool.give(connection);
    }
  };

  return {
    async read(run) {
      using limit = clock.deadline(MAX_WAIT_MS, () => new ConnectionLost("there is no connection to Postgres"));
      for (;;) {
        if (closing.signal.aborted) throw new GatewayError("stopping", "the store is closed");
        try {
          return await tryToRead(run, limit.signal);
        } catch (error) {
          const fault = postgresFault(error);
          // a read changes nothing, so it may be asked again
          if ((fault !== "lost" && fault !== "again") || limit.signal.aborted) throw storeFailed(error);
          await clock.sleep(PAUSE_MS, limit.signal).catch(() => undefined); // the limit is looked at above
        }
      }
    },
    async close() {
      closing.abort();
      await pool.close();
    },
  };
}

async function inOneMoment<T>(connection: Connection, run: () => Steps<T>): Promise<T> {
  await connection.control(BEGIN);
  try {
    return await runWaiting(run(), (query: Query) => connection.ask(query));
  } finally {
    if (!connection.isLost()) await connection.control("rollback").catch(() => connection.close());
  }
}

/** As many connections as there are reads at the same time, up to the limit. Those that were lost are made again when they are needed. */
function createPool(connect: () => Promise<Connection>) {
  const free: Connection[] = [];
  const all = new Set<Connection>();
  const queue: Deferred<void>[] = [];
  let taken = 0;

  const wakeNext = (): void => queue.shift()?.resolve();
  /** One that gave up waiting hands its turn on, if it was its turn already. */
  const leave = (turn: Deferred<void>): void => {
    const place = queue.indexOf(turn);
    if (place >= 0) queue.splice(place, 1);
    else if (taken < MAX_CONNECTIONS) wakeNext();
  };

  return {
    async take(signal: AbortSignal): Promise<Connection> {
      while (taken >= MAX_CONNECTIONS) {
        const turn = deferred<void>();
        queue.push(turn);
        try {
          await orAborted(turn.promise, signal);
        } catch (error) {
          leave(turn);
          throw error;
        }
      }
      taken++;
      try {
        const known = free.pop();
        if (known && !known.isLost()) return known;
        if (known) all.delete(known);
        const made = await connect();
        all.add(made);
        return made;
      } catch (error) {
        taken--;
        wakeNext();
        throw error;
      }
    },
    give(connection: Connection): void {
      taken--;
      if (connection.isLost()) all.delete(connection);
      else free.push(connection);
      wakeNext();
    },
    async close(): Promise<void> {
      await Promise.all([...all].map((connection) => connection.close()));
    },
  };
}
