/** Sessions get a model, a name and earlier conversations of their own; people get roles from a chat. Never edited once released. */
import type { Migration } from "../migration.ts";

/** `person` is who alone speaks in a session; it stays empty for groups and for conversations that several people share. */
export const sessionSettings: Migration = {
  name: "session-settings",
  sql: `
alter table sessions add column person text;
alter table sessions add column model text;
alter table sessions add column thinking text;
alter table sessions add column named integer not null default 0;
alter table sessions add column switched_by text; -- the turn that put the current file in its place: run again, it has nothing left to do
update sessions set person = alone.sender
  from (select session_key, min(sender) as sender from inbox
        group by session_key having count(distinct sender) = 1 and min(scope) = 'dm' and max(scope) = 'dm') as alone
  where alone.session_key = sessions.key;
create index sessions_by_person on sessions (person, agent_id, last_activity_at) where person is not null;
create index sessions_by_file on sessions (file);
create index turns_by_file on turns (file); -- a conversation may move from one chat to another

create table conversations (
  file text primary key not null, -- of exactly one session or one row here, never of both
  session_key text not null references sessions (key),
  agent_id text not null,
  person text,
  title text not null,
  started_at integer not null,
  ended_at integer not null,
  turns integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cost_usd real not null,
  settled_bytes integer not null
) strict, without rowid;
create index conversations_by_session on conversations (session_key, ended_at);
create index conversations_by_person on conversations (person, agent_id, ended_at) where person is not null;

create table role_grants (
  principal text primary key not null,
  role text not null check (role in ('owner', 'member', 'guest')),
  granted_by text not null,
  at integer not null
) strict, without rowid;
`,
};
