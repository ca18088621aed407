/** Poolers between the gateway and Postgres: one in session mode works, one in transaction mode is refused before anything is written. */
import { GatewayError } from "../../contracts/errors.ts";
import { askPostgres } from "../ask-rows.ts";
import type { Connection } from "./connection.ts";

export const TRANSACTION_MODE =
  "a pooler in transaction mode is in between: several connections share a process of the server. Use the direct connection, or the pooler in session mode (Supabase: port 5432).";

const PID = "select pg_backend_pid() as pid";
/** Others use the pooler as well, so a process that is shared is not always the same one. */
const LOOKS = 3;
/** What was set on the way in stays on a process that others share. */
const RESET = "reset statement_timeout; reset lock_timeout; reset idle_in_transaction_session_timeout";

/** Whether one process of the server serves both of them in turn. */
export async function isShared(one: Connection, other: Connection): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) if ((await pidOf(one)) === (await pidOf(other))) return true;
  return false;
}

/** Throws `store_failed`. */
export async function refuseTransactionMode(first: Connection, connect: () => Promise<Connection>): Promise<void> {
  if (!first.isPooled) return;
  const other = await connect();
  try {
    if (!(await isShared(first, other))) return;
    for (const one of [first, other]) await one.control(RESET).catch(() => undefined); // they are closed in any case
    const say = `Postgres cannot be used: ${TRANSACTION_MODE}`;
    throw new GatewayError("store_failed", "a pooler shares connections", { say });
  } finally {
    await other.close();
  }
}

async function pidOf(connection: Connection): Promise<number> {
  const [row] = await askPostgres(connection)<{ readonly pid: number }>(PID);
  return row?.pid ?? 0;
}
