/** What the gateway tells agents besides what people say, and what made a message begin. Never edited once released. */
import type { Migration } from "./migration.ts";

export const systemEvents: Migration = {
  name: "system-events",
  sql: `
alter table inbox add column origin text not null default 'chat'
  check (origin in ('chat', 'cron', 'heartbeat', 'webhook', 'delegate'));

create table system_events (
  seq integer primary key,
  id text not null unique,
  session_key text not null,
  source text not null,
  kind text not null check (kind in ('task', 'news', 'said')),
  text text not null,
  created_at integer not null,
  expires_at integer not null,
  hidden integer not null default 0, -- 1: one too many, only counted
  turn_id text,
  shown integer not null default 0
) strict;
create index system_events_open on system_events (session_key, seq) where shown = 0;
create index system_events_old on system_events (expires_at);
`,
};
