/** Approval rules, and `always` among the ends of an approval. Never edited once released. */
import type { Migration } from "./migration.ts";

export const approvalRules: Migration = {
  name: "approval-rules",
  sql: `
create table approval_rules (
  seq integer primary key,
  id text not null unique,
  tool text not null,
  agent_id text not null,
  principal text not null,
  origins text not null, -- JSON
  because text not null,
  reach text not null check (reach in ('call', 'program', 'folder')),
  value text not null,
  says text not null,
  shown text not null,
  approval_id text not null,
  call_hash text not null,
  made_by text not null,
  made_at integer not null,
  expires_at integer not null,
  last_used_at integer, -- null: never
  uses integer not null default 0
) strict;
create unique index approval_rules_same on approval_rules (agent_id, principal, tool, reach, value, origins, because);
create index approval_rules_by_end on approval_rules (expires_at);

create table approvals_with_always (
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
  decision text check (decision in ('once', 'session', 'deny', 'expired', 'always')),
  decided_by text,
  decided_at integer,
  input text not null,
  node text
) strict;
insert into approvals_with_always
  select seq, id, hash, tool, call_id, because, session_key, turn_id, agent_id, principal, role, asked_at, expires_at,
    decision, decided_by, decided_at, input, node
  from approvals;
drop table approvals;
alter table approvals_with_always rename to approvals;
create index approvals_open on approvals (seq) where decision is null;
create index approvals_old on approvals (asked_at) where decision is not null;
create index approvals_by_session on approvals (session_key);
`,
};
