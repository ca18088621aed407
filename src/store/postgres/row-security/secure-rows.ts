/**
 * Row level security, brought up to date at each start: roles are no part of a database, so a dump that was loaded elsewhere comes without them.
 * The gateway works as a role of its own, which owns nothing and bypasses nothing; an explicit policy lets it serve everybody.
 */
import type { Log } from "../../../kit/log.ts";
import { type AskRows, askPostgres } from "../../ask-rows.ts";
import type { Connection } from "../connection.ts";
import { OWN_ROWS } from "./own-rows.ts";
import { policyChanges, quoted, type SecuredTable } from "./policy-changes.ts";

const LOCK = "select pg_advisory_xact_lock(hashtext('pi-gateway migrations'))";
/** One role for each schema of a database: a role that several shared would let the user of one into the others. */
const LOOK = `with wanted as (
    select format('pi_gateway_%s_%s', oid, current_schema()::regnamespace::oid) as name
    from pg_database where datname = current_database()
  )
  select current_user::text as owner, current_schema()::text as schema, wanted.name as role,
    own.rolsuper or own.rolcreaterole as "mayCreate", role.oid is not null as "isThere",
    coalesce(pg_has_role(current_user, role.oid, 'member'), false) as "isMember"
  from wanted join pg_roles as own on own.rolname = current_user left join pg_roles as role on role.rolname = wanted.name`;
const TABLES = `select relname::text as name, relrowsecurity as "isEnabled", relforcerowsecurity as "isForced",
    coalesce((select json_agg(json_build_object('name', polname, 'roles',
        (select coalesce(json_agg(rolname), '[]') from pg_roles where pg_roles.oid = any (polroles)))) from pg_policy where polrelid = pg_class.oid), '[]') as policies
  from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`;
/** Sequences are for the numbers of rows. */
const NOT_GRANTED = `select relname::text as name, relkind = 'S' as "isSequence" from pg_class
  where relnamespace = current_schema()::regnamespace and case relkind
    when 'r' then not (has_table_privilege($1, oid, 'select') and has_table_privilege($1, oid, 'insert')
      and has_table_privilege($1, oid, 'update') and has_table_privilege($1, oid, 'delete'))
    when 'S' then not has_sequence_privilege($1, oid, 'usage') else false end`;

interface Look {
  readonly owner: string;
  readonly schema: string;
  readonly role: string;
  readonly mayCreate: boolean;
  readonly isThere: boolean;
  readonly isMember: boolean;
}

/** How every connection of the gateway begins. */
interface GatewayRole {
  /** Null: the user may not create one, and works as the owner of the tables. */
  readonly role: string | null;
  /** Runs on each connection, before anything else. */
  readonly begin: string;
}

/** The tables are up to date. */
export async function secureRows(connection: Connection, log: Log): Promise<GatewayRole> {
  const ask = askPostgres(connection);
  await connection.control("begin");
  try {
    await connection.control(LOCK);
    const look = await lookAt(ask);
    const role = await ensureRole(connection, look);
    const servants = role === null ? [look.owner] : [look.owner, role];
    const changes = await changesOf(ask, servants);
    if (changes.length > 0) await connection.control(changes.join(";\n"));
    if (role !== null) await grant(connection, role, look.schema);
    await connection.control("commit");
    if (role === null) log.info("the gateway works as the owner of its tables: its user may not create a role");
    // its name is part of the default search path, so another role would look elsewhere
    const path = `set search_path to ${quoted(look.schema)}`;
    return { role, begin: role === null ? path : `set role ${quoted(role)}; ${path}` };
  } catch (error) {
    await connection.control("rollback").catch(() => undefined); // the first error says more
    throw error;
  }
}

/** How many statements a start would need until the tables are secured. Changes nothing. */
export async function missingPolicies(ask: AskRows): Promise<number> {
  const { owner, role, isThere, isMember } = await lookAt(ask);
  return (await changesOf(ask, isThere && isMember ? [owner, role] : [owner])).length;
}

async function changesOf(ask: AskRows, servants: readonly string[]): Promise<readonly string[]> {
  const tables = (await ask<SecuredTable>(TABLES)).filter(({ name }) => name in OWN_ROWS);
  return policyChanges(tables, { ownRows: OWN_ROWS, servants });
}

async function lookAt(ask: AskRows): Promise<Look> {
  const [look] = await ask<Look>(LOOK);
  if (!look) throw new Error("Postgres does not say who is asking");
  return look;
}

async function ensureRole(connection: Connection, { role, owner, ...look }: Look): Promise<string | null> {
  if (look.isThere && look.isMember) return role;
  if (!look.mayCreate) return null;
  if (!look.isThere) await connection.control(`create role ${quoted(role)} nologin`);
  await connection.control(`grant ${quoted(role)} to ${quoted(owner)}`);
  return role;
}

async function grant(connection: Connection, role: string, schema: string): Promise<void> {
  const missing = await askPostgres(connection)<{ name: string; isSequence: boolean }>(NOT_GRANTED, [role]);
  const known = missing.filter(({ name, isSequence }) => isSequence || name in OWN_ROWS);
  if (known.length === 0) return;
  const grants = known.map(({ name, isSequence }) =>
    isSequence
      ? `grant usage on sequence ${quoted(name)} to ${quoted(role)}`
      : `grant select, insert, update, delete on ${quoted(name)} to ${quoted(role)}`,
  );
  await connection.control([`grant usage on schema ${quoted(schema)} to ${quoted(role)}`, ...grants].join(";\n"));
}
