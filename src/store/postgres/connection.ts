/**
 * One connection to Postgres. Numbers come back as numbers, text goes out in a form that Postgres takes, and a question that is not
 * answered in time ends the connection: after that nobody knows what the server has done with it.
 */
import { Client, type CustomTypesConfig, types } from "pg";
import type { Clock } from "../../kit/clock.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { Answer, Query } from "../steps.ts";
import { storableText } from "../storable-text.ts";
import { ConnectionLost, sqlState } from "./faults.ts";

export interface Connection {
  /** Of the process of the server that serves it. */
  readonly pid: number;
  /** A pooler is in between: it tells its clients a number that it made up. */
  readonly isPooled: boolean;
  ask(query: Query): Promise<Answer>;
  /** One or several of our own constant statements. */
  control(text: string): Promise<void>;
  isLost(): boolean;
  /** Resolves when it can be used no more. */
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

interface ConnectDeps {
  readonly clock: Clock;
  readonly url: string;
  /** Told of every notification of the channels that it listens to. */
  readonly onWake?: (() => void) | undefined;
}

const CONNECT_MS = 5_000;
/** Longer than the time limit of statements, so that the server is the first to say that one took too long. */
const ANSWER_MS = 15_000;
const STATEMENT_MS = 10_000;
/** A gateway that froze in a transaction holds its locks for so long. */
const IDLE_TRANSACTION_MS = 10_000;
const CLOSE_MS = 1_000;
/** By a statement, because poolers take no such parameters with a new connection. */
const BEGIN = `select pg_backend_pid() as pid, set_config('statement_timeout', '${STATEMENT_MS}', false),
  set_config('lock_timeout', '${STATEMENT_MS}', false), set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_MS}', false)`;

const INT8 = types.builtins.INT8;
const NUMERIC = types.builtins.NUMERIC;

/** Whole numbers of 64 bits and sums of them: ours are all below 2^53. */
const PARSERS: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format)),
};

/** Throws `ConnectionLost`, or what the server said. */
export async function connect({ clock, url, onWake }: ConnectDeps): Promise<Connection> {
  const client = new Client({
    connectionString: url,
    types: PARSERS,
    application_name: "pi-gateway",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  const over = deferred<void>();
  let lost: ConnectionLost | null = null;
  const lose = (cause?: unknown): void => {
    lost ??= new ConnectionLost(messageOf(cause), { cause });
    over.resolve();
  };
  client.on("error", lose); // without somebody who hears it, it would end the process
  client.on("end", () => lose());
  if (onWake) client.on("notification", onWake);
  let pid: number;
  try {
    await client.connect();
    using deadline = clock.deadline(CONNECT_MS, () => new ConnectionLost("the server did not answer in time"));
    pid = Number((await orAborted(client.query<{ pid: number }>(BEGIN), deadline.signal)).rows[0]?.pid);
  } catch (error) {
    void client.end().catch(() => undefined); // a server that does not answer does not answer that either
    throw sqlState(error) === undefined ? new ConnectionLost(messageOf(error), { cause: error }) : error;
  }

  /** What goes wrong on the way is the end of the connection; what the server says about a statement is not. */
  const answered = async <T>(asking: Promise<T>): Promise<T> => {
    using deadline = clock.deadline(ANSWER_MS, () => new ConnectionLost("the server did not answer in time"));
    try {
      return await orAborted(asking, deadline.signal); // the library rejects it when the connection ends
    } catch (error) {
      if (sqlState(error) !== undefined && lost === null) throw error;
      lose(error);
      void client.end().catch(() => undefined); // it may never answer that either
      throw lost ?? error;
    }
  };

  return {
    pid,
    isPooled: pid !== toldPidOf(client),
    async ask({ text, values, name }) {
      if (lost) throw lost;
      const result = await answered(client.query({ text, values: values.map(toWire), ...(name ? { name } : {}) }));
      return { rows: result.rows as unknown[], count: result.rowCount ?? 0 };
    },
    async control(text) {
      if (lost) throw lost;
      await answered(client.query(text));
    },
    isLost: () => lost !== null,
    lost: over.promise,
    async close() {
      lose(new Error("the connection was closed"));
      using limit = clock.deadline(CLOSE_MS, () => new Error("too late"));
      await orAborted(client.end(), limit.signal).catch(() => undefined); // gone is gone
    },
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : "the connection to Postgres ended";
}

/** As the answer to the connection said it. */
function toldPidOf(client: Client): number {
  return "processID" in client && typeof client.processID === "number" ? client.processID : 0;
}

function toWire(value: unknown): unknown {
  return typeof value === "string" ? storableText(value) : value;
}
