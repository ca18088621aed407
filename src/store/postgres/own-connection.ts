/**
 * A connection that is made when it is needed, given up when the server does not answer in time, and then made again: the next one may reach it.
 * One at a time.
 */
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Answer } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./faults.ts";

interface OwnConnection {
  /** There is one from here on. Throws when none can be made in time. */
  open(): Promise<void>;
  /** Throws when there is no connection, or no answer. */
  ask(text: string, values: readonly unknown[]): Promise<Answer>;
  /** The next question makes a new one. */
  drop(): void;
  /** As `drop`, and resolves when it is closed. Never rejects. */
  close(): Promise<void>;
}

const ANSWER_MS = 2_000;
/** It takes several answers. One whose packets were lost is made anew sooner than they are sent again. */
const OPEN_MS = 3_000;

export function createOwnConnection(clock: Clock, connect: () => Promise<Connection>): OwnConnection {
  let connection: Promise<Connection> | null = null;
  const within = async <T>(ms: number, asking: Promise<T>): Promise<T> => {
    using limit = clock.deadline(ms, () => new ConnectionLost("the server did not answer in time"));
    return await orAborted(asking, limit.signal);
  };
  const opened = (): Promise<Connection> => within(OPEN_MS, (connection ??= connect()));
  /** Never rejects. */
  const close = async (): Promise<void> => {
    const last = connection;
    connection = null;
    if (!last) return;
    const closing = last.then((open) => open.close());
    await within(ANSWER_MS, closing).catch(() => undefined); // it never began, or is closed when it comes
  };
  return {
    open: async () => void (await opened()),
    ask: async (text, values) => within(ANSWER_MS, (await opened()).ask({ text, values, name: null })),
    drop: () => void close(),
    close,
  };
}
