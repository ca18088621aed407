/**
 * A connection that is made again when it was lost, with growing pauses, for as long as the store is open. Those who need it wait for a
 * limited time. Says when it was lost and when it is there again.
 */
import type { Clock } from "../../kit/clock.ts";
import { deferred, type Deferred, orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import type { Connection } from "./connection.ts";

interface ReconnectDeps {
  readonly clock: Clock;
  readonly log: Log;
  connect(): Promise<Connection>;
}

export interface Reconnecting {
  /** The connection, as soon as there is one. Rejects with the reason why there is none when the signal aborts. */
  connection(signal: AbortSignal): Promise<Connection>;
  /** Why there is none; null while there is one. */
  fault(): unknown;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 50;
/** Whoever waits for the database goes on within a second of its return: messages, turns that end, and a takeover. */
const LONGEST_PAUSE_MS = 1_000;

/** `first` is open already: the caller has prepared the database with it. */
export function keepConnected({ clock, log, connect }: ReconnectDeps, first: Connection): Reconnecting {
  const closing = new AbortController();
  let current: Connection | null = first;
  let fault: unknown = null;
  let coming: Deferred<Connection> = deferred();
  coming.resolve(first);

  /** Never rejects: it goes on until it has a connection, or the store is closed. */
  const reconnect = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !closing.signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return take(await connect());
      } catch (error) {
        fault = error;
        await clock.sleep(pauseMs, closing.signal).catch(() => undefined); // closing is the normal end
      }
    }
  };

  const take = (connection: Connection): void => {
    if (closing.signal.aborted) return void connection.close().catch(() => undefined);
    current = connection;
    fault = null;
    log.info("connected to Postgres again");
    coming.resolve(connection);
    void follow(connection);
  };

  /** Never rejects. */
  const follow = async (connection: Connection): Promise<void> => {
    await connection.lost;
    if (closing.signal.aborted) return;
    current = null;
    fault = new Error("the connection to Postgres was lost");
    coming = deferred();
    log.error("connection to Postgres lost", { pid: connection.pid });
    await reconnect();
  };
  void follow(first);

  return {
    async connection(signal) {
      if (current && !current.isLost()) return current;
      if (current) await Promise.resolve(); // `follow` hears of it in a moment
      return orAborted(coming.promise, signal).catch((error: unknown) => {
        throw fault ?? error;
      });
    },
    fault: () => fault,
    async close() {
      closing.abort(new Error("the store is closed"));
      await current?.close();
    },
  };
}
