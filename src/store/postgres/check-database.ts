/** Looks at a Postgres database as the user of `store.url` sees it, for `pi-gw doctor`. Changes nothing; nothing that it says contains the address. */
import type { Clock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";
import { askPostgres } from "../ask-rows.ts";
import { MARK_TABLE } from "../move/mark.ts";
import { type Connection, connect } from "./connection.ts";
import { type DatabaseFacts, judgeDatabase } from "./judge-database.ts";
import { POSTGRES_MIGRATIONS } from "./migrate.ts";
import { isShared } from "./pooler.ts";
import { missingPolicies } from "./row-security/secure-rows.ts";

interface CheckDeps {
  readonly clock: Clock;
}

interface Seen extends Pick<
  DatabaseFacts,
  "version" | "encoding" | "schema" | "user" | "mayCreateTables" | "mayCreateRoles"
> {
  readonly now: number;
  readonly ownsTables: boolean;
  readonly hasMigrations: boolean;
  readonly isHalfMoved: boolean;
}

const LOOK = `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding, current_schema()::text as schema, current_user::text as user,
    floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreateTables",
    (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as "mayCreateRoles",
    coalesce((select bool_and(pg_has_role(relowner, 'usage')) from pg_class
      where relnamespace = current_schema()::regnamespace and relname in ('migrations', 'nodes', 'inbox')), true) as "ownsTables",
    to_regclass(format('%I.%I', current_schema(), 'migrations')) is not null as "hasMigrations",
    to_regclass(format('%I.%I', current_schema(), $1::text)) is not null as "isHalfMoved"`;

/** A server that cannot be reached is a finding as well. */
export async function checkDatabase(deps: CheckDeps, url: Secret): Promise<ReturnType<typeof judgeDatabase>> {
  try {
    const facts = await factsOf(deps, url.reveal());
    return judgeDatabase(
      facts,
      POSTGRES_MIGRATIONS.map(({ name }) => name),
    );
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    const say = `Postgres cannot be used (${because}). Check store.url, and that the server runs and accepts this user.`;
    return [{ state: "broken", say }];
  }
}

async function factsOf({ clock }: CheckDeps, url: string): Promise<DatabaseFacts> {
  const one = await connect({ clock, url });
  try {
    const other = await connect({ clock, url });
    try {
      return await lookAt(clock, one, other);
    } finally {
      await other.close();
    }
  } finally {
    await one.close();
  }
}

async function lookAt(clock: Clock, one: Connection, other: Connection): Promise<DatabaseFacts> {
  const ask = askPostgres(one);
  const began = { at: clock.now(), elapsed: clock.elapsed() };
  const [seen] = await ask<Seen>(LOOK, [MARK_TABLE]);
  if (!seen) throw new Error("the server does not say who is asking");
  const answeredInMs = clock.elapsed() - began.elapsed;
  const { now, hasMigrations, ...facts } = seen;
  const applied = hasMigrations
    ? (await ask<{ name: string }>("select name from migrations")).map(({ name }) => name)
    : [];
  return {
    ...facts,
    answeredInMs,
    clockAheadMs: now - (began.at + answeredInMs / 2),
    applied,
    policyChanges: applied.length === 0 ? 0 : await missingPolicies(ask),
    isPooled: one.isPooled,
    isShared: one.isPooled && (await isShared(one, other)),
  };
}
