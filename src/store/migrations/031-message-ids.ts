/** What platforms call messages, the assistant's reactions and pins, and the reactions of people, several for each message. Never edited once released. */
import type { Migration } from "./migration.ts";

export const messageIds: Migration = {
  name: "message-ids",
  sql: `
create table platform_messages (
  seq integer primary key,
  message_id text not null,
  channel text not null,
  account text not null,
  chat text not null,
  platform_id text not null
) strict;
create index platform_messages_by_message on platform_messages (message_id, seq);
create index platform_messages_by_platform on platform_messages (channel, account, chat, platform_id, seq);
insert into platform_messages (message_id, channel, account, chat, platform_id)
  select id, channel, account, chat, provider_id from outbox where provider_id is not null order by seq;
insert into platform_messages (message_id, channel, account, chat, platform_id)
  select id, channel, account, chat, substr(event_id, instr(event_id, '/') + 1) from inbox
  where channel = 'telegram' and instr(event_id, '/') > 0 order by seq;
insert into platform_messages (message_id, channel, account, chat, platform_id)
  select id, channel, account, chat, event_id from inbox where channel = 'discord' order by seq;

alter table inbox add column own_reactions text;
alter table inbox add column pinned_at integer;
alter table outbox add column own_reactions text;
alter table outbox add column pinned_at integer;

create table reactions (
  message_id text not null,
  principal text not null,
  name text not null,
  session_key text not null,
  emoji text not null,
  at integer not null,
  turn_id text,
  primary key (message_id, principal)
) strict, without rowid;
create index reactions_new on reactions (session_key, at) where turn_id is null;
create index reactions_told on reactions (turn_id, at) where turn_id is not null;
insert into reactions (message_id, principal, name, session_key, emoji, at, turn_id)
  select id, 'operator', 'You', session_key, reaction, created_at, reaction_turn from outbox where reaction is not null;
drop index outbox_reactions;
drop index outbox_reactions_told;
alter table outbox drop column reaction;
alter table outbox drop column reaction_turn;
`,
};
