/** Questions to the owner with their answers, and what holds for the rest of a conversation. Never edited once released. */
import type { Migration } from "../migration.ts";

export const approvals: Migration = {
  name: "approvals",
  sql: `
create table approvals (
  seq integer primary key,
  id text not null unique,
  hash text not null,
  tool text not null,
  call_id text not null,
  because text not null,
  session_key text not null,
  turn_id text not null,
  agent_id text not null,
  principal text not null,
  role text not null check (role in ('owner', 'member', 'guest')),
  asked_at integer not null,
  expires_at integer not null,
  decision text check (decision in ('once', 'session', 'deny', 'expired')),
  decided_by text,
  decided_at integer,
  input text not null
) strict;
create index approvals_open on approvals (seq) where decision is null;
create index approvals_old on approvals (asked_at) where decision is not null;

create table approval_grants (
  session_key text not null,
  tool text not null,
  given_by text not null,
  at integer not null,
  primary key (session_key, tool)
) strict, without rowid;
`,
};
