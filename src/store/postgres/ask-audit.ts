/** Questions about the audit log in a Postgres database, all of one moment. Refuses a user that would see only a part of it. */
import type { Clock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";
import { type AskRows, askPostgres } from "../ask-rows.ts";
import { connect } from "./connection.ts";

interface AuditDeps {
  readonly clock: Clock;
  readonly url: Secret;
}

const ONE_MOMENT = "begin isolation level repeatable read read only";
/** Row level security hides rows without a word: what is hidden would look as if it had been taken away. */
const SEES_ALL = `select to_regclass(format('%I.audit_marks', current_schema())) is not null as "hasLog",
    own.rolsuper or own.rolbypassrls or not coalesce((select relrowsecurity from pg_class
      where oid = to_regclass(format('%I.audit_marks', current_schema()))), false)
    or exists (select 1 from pg_policies where schemaname = current_schema() and tablename = 'audit_marks' and policyname = 'gateway'
      and exists (select 1 from unnest(roles) as role where pg_has_role(role, 'usage'))) as "seesAll"
  from pg_roles as own where own.rolname = current_user`;

/** \`use\` is given the questions, or a sentence about why there is nothing to ask. */
export async function askAudit<T>({ clock, url }: AuditDeps, use: (ask: AskRows | string) => Promise<T>): Promise<T> {
  const connection = await connect({ clock, url: url.reveal() });
  try {
    await connection.control(ONE_MOMENT);
    const ask = askPostgres(connection);
    const [seen] = await ask<{ readonly hasLog: boolean; readonly seesAll: boolean }>(SEES_ALL);
    if (!seen?.hasLog)
      return await use("There are no tables in this Postgres database, so there is nothing to verify.");
    if (!seen.seesAll)
      return await use("The user of store.url does not see the whole audit log. Use the one that the gateway uses.");
    return await use(ask);
  } finally {
    await connection.close();
  }
}
