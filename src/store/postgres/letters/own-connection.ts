/** A connection that is made when it is needed, given up when the server does not answer in time, and then made again. */
import type { Clock } from "../../../kit/clock.ts";
import { orAborted } from "../../../kit/deferred.ts";
import type { Connection } from "../connection.ts";
import { ConnectionLost } from "../faults.ts";

interface OwnConnection {
  /** Throws when there is no connection, or no answer. */
  ask<T>(text: string, values: readonly unknown[]): Promise<readonly T[]>;
  /** The next question makes a new one. */
  drop(): void;
}

const ANSWER_MS = 2_000;

export function createOwnConnection(clock: Clock, connect: () => Promise<Connection>): OwnConnection {
  let connection: Promise<Connection> | null = null;
  return {
    async ask<T>(text: string, values: readonly unknown[]) {
      const open = await (connection ??= connect());
      using limit = clock.deadline(ANSWER_MS, () => new ConnectionLost("the server did not answer in time"));
      return (await orAborted(open.ask({ text, values, name: null }), limit.signal)).rows as readonly T[];
    },
    drop() {
      void connection?.then((open) => open.close()).catch(() => undefined); // it never began
      connection = null;
    },
  };
}
