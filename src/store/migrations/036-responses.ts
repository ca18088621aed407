/** Responses of programs, which may be asked for again and continued. Never edited once released. */
import type { Migration } from "./migration.ts";

export const responses: Migration = {
  name: "responses",
  sql: `
create table responses (
  id text primary key,
  principal text not null,
  chain text not null, -- the first of its conversation
  previous text, -- null: it is the first
  created_at integer not null,
  ended integer not null,
  chars integer not null, -- of said and body
  said text not null, -- JSON
  body text not null -- JSON
) strict, without rowid;
create index responses_by_chain on responses (principal, chain, created_at, chars);
create index responses_by_age on responses (created_at, principal, chain);
create index responses_open on responses (id) where ended = 0;
`,
};
