/** The transaction of one batch of writes: with savepoints only where one of them is wrong, and never in doubt about what it did. */
import type { InstanceId } from "../../contracts/ids.ts";
import { type Query, runWaiting, type Steps } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { postgresFault } from "./faults.ts";

export interface BatchedWrite {
  run(): Steps<unknown>;
}

export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

const BEGIN = "begin isolation level serializable";

/** Both in one message, so that a commit costs one round trip. The id is one of ours, without quotes. */
export function endOf(instanceId: InstanceId, batch: number, at: number): string {
  return `update batches set batch = ${batch}, at = ${at} where writer = '${instanceId}'; commit`;
}

/** Waits until the transaction that has changed the row has ended, and makes sure that it ends. */
export function lastBatch(instanceId: InstanceId, lostPid: number): Query {
  const text = `with ended as materialized (select end_own_connection($2))
    select batch from batches where writer = $1 and (select count(*) from ended) >= 0 for update`;
  return { text, values: [instanceId, lostPid], name: null };
}

interface BatchWork {
  readonly connection: Connection;
  readonly batch: readonly BatchedWrite[];
  /** The statements that end the transaction. */
  readonly end: string;
}

/** `failed`: nothing was written. `in doubt`: the answer to the commit is missing. */
type Done =
  | { readonly kind: "committed" | "in doubt"; readonly outcomes: readonly Outcome[] }
  | { readonly kind: "one is wrong" | "failed"; readonly error: unknown };

/** Tries without savepoints first: only a batch in which one write is wrong pays for them. */
export async function runPlain({ connection, batch, end }: BatchWork): Promise<Done> {
  const outcomes: Outcome[] = [];
  try {
    await connection.control(BEGIN);
    for (const { run } of batch) outcomes.push({ ok: true, value: await runWaiting(run(), connection.ask) });
  } catch (error) {
    await rollback(connection);
    return { kind: postgresFault(error) === "statement" ? "one is wrong" : "failed", error };
  }
  return commitNow({ connection, end, outcomes });
}

export async function runGuarded({ connection, batch, end }: BatchWork): Promise<Done> {
  const outcomes: Outcome[] = [];
  try {
    await connection.control(BEGIN);
    for (const { run } of batch) outcomes.push(await runSaved(connection, run));
  } catch (error) {
    await rollback(connection);
    return { kind: "failed", error };
  }
  return commitNow({ connection, end, outcomes });
}

/** Throws what is no fault of this write alone. */
async function runSaved(connection: Connection, run: BatchedWrite["run"]): Promise<Outcome> {
  await connection.control("savepoint one_write");
  try {
    const value = await runWaiting(run(), connection.ask);
    await connection.control("release one_write");
    return { ok: true, value };
  } catch (error) {
    if (postgresFault(error) !== "statement") throw error;
    await connection.control("rollback to one_write; release one_write");
    return { ok: false, error };
  }
}

interface Ending extends Pick<BatchWork, "connection" | "end"> {
  readonly outcomes: readonly Outcome[];
}

async function commitNow({ connection, end, outcomes }: Ending): Promise<Done> {
  try {
    await connection.control(end);
    return { kind: "committed", outcomes };
  } catch (error) {
    if (connection.isLost()) return { kind: "in doubt", outcomes };
    await rollback(connection);
    return { kind: "failed", error };
  }
}

/** A connection that cannot roll back is closed: the server rolls back then. */
async function rollback(connection: Connection): Promise<void> {
  if (connection.isLost()) return;
  await connection.control("rollback").catch(() => connection.close());
}
