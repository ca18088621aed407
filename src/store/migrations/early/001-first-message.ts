/** The first tables: everything from an accepted message to its delivered reply. Never edited once released; changes are new migrations. */
import type { Migration } from "../migration.ts";

export const firstMessage: Migration = {
  name: "first-message",
  sql: `
create table meta (
  key text primary key not null,
  value integer not null
) strict, without rowid;
insert into meta (key, value) values ('epoch', 0), ('clean', 1);

create table sessions (
  key text primary key not null,
  channel text not null,
  agent_id text not null,
  title text not null,
  search_text text not null,
  created_at integer not null,
  last_activity_at integer not null,
  messages integer not null,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_usd real not null default 0,
  file text not null,
  settled_bytes integer not null default 0
) strict, without rowid;
create index sessions_by_activity on sessions (last_activity_at, key);

create table turns (
  seq integer primary key,
  id text not null unique,
  session_key text not null references sessions (key),
  agent_id text not null,
  attempt integer not null,
  state text not null check (state in ('running', 'done', 'failed', 'aborted')),
  unsafe integer not null default 0,
  file text not null,
  model text,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_usd real not null default 0,
  error_code text,
  error_detail text,
  begun_at integer not null,
  ended_at integer
) strict;
create index turns_by_session on turns (session_key, seq);
create unique index turns_one_running on turns (session_key) where state = 'running';

create table inbox (
  seq integer primary key,
  id text not null unique,
  session_key text not null, -- written with its session in one transaction; checked as a reference it would scan this table per new session
  agent_id text not null,
  role text not null check (role in ('owner', 'member', 'guest')),
  priority integer not null,
  channel text not null,
  account text not null,
  chat text not null,
  thread text,
  event_id text not null,
  fingerprint text not null,
  scope text not null check (scope in ('dm', 'group')),
  sender text not null,
  sender_name text not null,
  text text not null,
  attachments text not null,
  mentioned integer not null,
  received_at integer not null,
  turn_id text references turns (id),
  done integer not null default 0
) strict;
create unique index inbox_events on inbox (channel, account, event_id);
create index inbox_by_turn on inbox (turn_id) where turn_id is not null;
create index inbox_open on inbox (session_key) where done = 0;

create table outbox (
  seq integer primary key,
  id text not null unique,
  turn_id text not null references turns (id),
  session_key text not null,
  part integer not null,
  channel text not null,
  account text not null,
  chat text not null,
  thread text,
  text text not null,
  kind text not null check (kind in ('reply', 'notice')),
  state text not null default 'pending' check (state in ('pending', 'sent', 'dead')),
  because text,
  created_at integer not null,
  ended_at integer
) strict;
create unique index outbox_by_turn on outbox (turn_id, part);
create index outbox_pending on outbox (state) where state = 'pending';

create table tool_calls (
  seq integer primary key,
  id text not null unique,
  call_id text not null,
  turn_id text not null,
  session_key text not null,
  principal text not null,
  tool text not null,
  origin text not null,
  input text not null,
  idempotent integer not null,
  status text not null check (status in ('running', 'success', 'error', 'blocked', 'unknown')),
  output text,
  ms integer,
  at integer not null
) strict;
create index tool_calls_by_turn on tool_calls (turn_id, seq);
create index tool_calls_running on tool_calls (status) where status = 'running';

create table media (
  id text primary key not null,
  owner text not null,
  name text not null,
  mime_type text not null,
  bytes integer not null,
  at integer not null
) strict;

create table sign_ins (
  digest text primary key not null,
  principal text not null,
  created_at integer not null,
  expires_at integer not null,
  auth_digest text not null
) strict;
create index sign_ins_by_end on sign_ins (expires_at);
`,
};
