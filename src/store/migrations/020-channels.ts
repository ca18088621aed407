/** People who asked to be let in, what channels have to know after a restart, the words of voice messages, messages that were changed while they waited, and signs under ours. Never edited once released. */
import type { Migration } from "./migration.ts";

export const channels: Migration = {
  name: "channels",
  sql: `
create table pairings (
  id text primary key,
  channel text not null,
  account text not null,
  principal text not null,
  name text not null,
  digest text not null,
  state text not null check (state in ('pending', 'approved', 'revoked')),
  created_at integer not null,
  expires_at integer not null,
  decided_at integer,
  decided_by text
) strict, without rowid;
create unique index pairings_person on pairings (channel, account, principal);
create index pairings_old on pairings (expires_at) where state <> 'approved';

create table channel_facts (
  channel text not null,
  account text not null,
  key text not null,
  value text not null,
  primary key (channel, account, key)
) strict, without rowid;

create table spoken_words (
  digest text primary key,
  words text not null,
  at integer not null
) strict, without rowid;

create index spoken_words_old on spoken_words (at);

alter table inbox add column edited_at integer;
alter table outbox add column reaction text;
alter table outbox add column reaction_turn text;
create index outbox_reactions on outbox (session_key, seq) where reaction is not null and reaction_turn is null;
create index outbox_reactions_told on outbox (reaction_turn) where reaction_turn is not null;

create index media_by_owner on media (owner, at, bytes);
`,
};
