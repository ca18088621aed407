/** Tool calls get a caller's scope, a stored reply and their place in a chain of hashes, and can be listed by what people look for. */
import type { Migration } from "../migration.ts";

/** The table is made anew because SQLite cannot change a check. Long columns are last: what decides about a row is read without them. */
export const toolCallChain: Migration = {
  name: "tool-call-chain",
  sql: `
create table tool_calls_chained (
  seq integer primary key,
  id text not null unique,
  call_id text not null,
  scope text not null,
  turn_id text not null,
  session_key text not null,
  principal text not null,
  tool text not null,
  origin text not null,
  path text not null,
  params_hash text not null,
  idempotent integer not null,
  status text not null check (status in ('running', 'pending', 'success', 'error', 'blocked', 'unknown')),
  ms integer,
  at integer not null,
  intent_no integer,
  intent_hash text,
  end_no integer,
  end_hash text,
  input text not null,
  output text,
  reply text
) strict;
insert into tool_calls_chained
  (seq, id, call_id, scope, turn_id, session_key, principal, tool, origin, path, params_hash, idempotent, status, ms, at, input, output)
  select seq, id, call_id, 'old:' || id, turn_id, session_key, principal, tool, origin, 'pipe', '', idempotent, status, ms, at, input, output
  from tool_calls;
drop table tool_calls;
alter table tool_calls_chained rename to tool_calls;
create index tool_calls_by_turn on tool_calls (turn_id, seq);
create index tool_calls_open on tool_calls (at) where status in ('running', 'pending');
create index tool_calls_unchained on tool_calls (seq) where intent_no is null;
create unique index tool_calls_once on tool_calls (scope, call_id) where status in ('running', 'pending', 'success', 'error');
create index tool_calls_unknown on tool_calls (scope, call_id, seq) where status = 'unknown';
-- no status in these: a call that ends well, as most do, changes none of them
create index tool_calls_by_time on tool_calls (at);
create index tool_calls_by_session on tool_calls (session_key, at, seq, tool);
create index tool_calls_by_tool on tool_calls (tool, at);
create index tool_calls_unwell on tool_calls (status, at, seq, tool) where status in ('error', 'blocked', 'unknown');

create table audit_marks (
  name text primary key not null check (name in ('start', 'head')),
  no integer not null,
  hash text not null,
  mac text not null
) strict, without rowid;
insert into audit_marks (name, no, hash, mac) values ('start', 0, '', ''), ('head', 0, '', '');
`,
};
