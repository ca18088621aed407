/** Loads what knows Postgres when somebody asks about such a database: most gateways have none. */
import type { Clock } from "../kit/clock.ts";
import type { Secret } from "../kit/secret.ts";

/** Looks at the database of `store.url` and says what is in order and what is not. Changes nothing. */
export async function checkPostgres(deps: { readonly clock: Clock }, url: Secret) {
  const { checkDatabase } = await import("./postgres/check-database.ts");
  return checkDatabase(deps, url);
}
