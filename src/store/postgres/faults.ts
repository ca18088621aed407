/** What an error of Postgres means for the work that met it. A decision without state; `write-batches.ts` and `reads.ts` act on it. */

/**
 * `statement`: this work alone is wrong. `again`: two transactions met, nothing was written, and the same work may succeed at once. `wait`:
 * the server refuses for a reason that holds for the next write too, such as a full disk. `lost`: the connection is of no use any more.
 * `superseded`: another gateway has taken over, and this one writes nothing any more.
 */
type PostgresFault = "statement" | "again" | "wait" | "lost" | "superseded";

/** By SQLSTATE, or by its class: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAULTS: Readonly<Record<string, PostgresFault>> = {
  "40001": "again", // serialization_failure
  "40P01": "again", // deadlock_detected
  "55P03": "again", // lock_not_available
  "25006": "lost", // read_only_sql_transaction: the server has become a standby, another one is the primary
  "25P03": "lost", // idle_in_transaction_session_timeout
  "53300": "lost", // too_many_connections: there was none to be had, and there may be one in a moment
  "57014": "wait", // query_canceled: by the time limit of statements
  "57P01": "lost", // admin_shutdown
  "57P02": "lost", // crash_shutdown
  "57P03": "lost", // cannot_connect_now
  "57P05": "lost", // idle_session_timeout
  GW001: "superseded", // raised by our own trigger, see tables/nodes.ts
  "08": "lost",
  "28": "wait", // wrong password
  "3D": "wait", // no such database
  "53": "wait", // disk full, out of memory
  "58": "wait", // I/O error of the server
  XX: "wait", // internal error, damaged data
};

/** The connection ended while somebody waited for an answer, or none could be made. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

export function postgresFault(error: unknown): PostgresFault {
  if (error instanceof ConnectionLost) return "lost";
  const code = sqlState(error);
  if (code === undefined) return "statement"; // thrown by row code
  return FAULTS[code] ?? FAULTS[code.slice(0, 2)] ?? "statement";
}

const SQL_STATE = /^[0-9A-Z]{5}$/;

export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && SQL_STATE.test(code) ? code : undefined;
}
