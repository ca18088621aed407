/** The encoding of a Postgres database: people write in every script, so anything but UTF8 is refused before something is written. */
import { GatewayError } from "../../contracts/errors.ts";
import { askPostgres } from "../ask-rows.ts";
import type { Connection } from "./connection.ts";

const NEEDED_ENCODING = "UTF8";

/** What is wrong with it; null: nothing. A server that was set up without a locale makes databases of `SQL_ASCII`. */
export function encodingFault(encoding: string): string | null {
  if (encoding === NEEDED_ENCODING) return null;
  return `the encoding of the database is ${encoding}, and ${NEEDED_ENCODING} is needed. Use a database that was made with: create database gateway encoding '${NEEDED_ENCODING}' locale 'C' template template0`;
}

/** Throws `store_failed`. */
export async function refuseOtherEncoding(connection: Connection): Promise<void> {
  const [seen] = await askPostgres(connection)<{ readonly encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  const fault = encodingFault(seen?.encoding ?? "unknown");
  if (fault === null) return;
  throw new GatewayError("store_failed", "encoding of the database", { say: `Postgres cannot be used: ${fault}` });
}
