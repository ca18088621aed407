/** Replies remember how far their sending came, so that a crash in the middle of it is told apart from one before. Never edited once released. */
import type { Migration } from "../migration.ts";

/** The table is made anew because SQLite cannot change a check. The text is last: what decides about a row is read without it. */
export const outboxStates: Migration = {
  name: "outbox-states",
  sql: `
create table outbox_with_states (
  seq integer primary key,
  id text not null unique,
  turn_id text not null references turns (id),
  session_key text not null,
  part integer not null,
  channel text not null,
  account text not null,
  chat text not null,
  thread text,
  kind text not null check (kind in ('reply', 'notice')),
  state text not null default 'pending' check (state in ('pending', 'sending', 'sent', 'ambiguous', 'dead')),
  attempts integer not null default 0,
  lost integer not null default 0,
  first_tried_at integer,
  next_try_at integer,
  provider_id text,
  because text,
  created_at integer not null,
  ended_at integer,
  text text not null
) strict;
insert into outbox_with_states
  (seq, id, turn_id, session_key, part, channel, account, chat, thread, kind, state, because, created_at, ended_at, text)
  select seq, id, turn_id, session_key, part, channel, account, chat, thread, kind, state, because, created_at, ended_at, text
  from outbox;
drop table outbox;
alter table outbox_with_states rename to outbox;
create unique index outbox_by_turn on outbox (turn_id, part);
create index outbox_open on outbox (seq) where ended_at is null;
create index outbox_trouble on outbox (state, ended_at, seq) where because is not null;
`,
};
