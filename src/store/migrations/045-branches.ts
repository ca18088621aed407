/** Where the session file stood before and after each turn, turns that were asked anew, sessions that branch off others, and what models think. Never edited once released. */
import type { Migration } from "./migration.ts";

export const branches: Migration = {
  name: "branches",
  sql: `
alter table turns add column began_bytes integer;
alter table turns add column settled_bytes integer;
alter table turns add column superseded_at integer;
alter table turns add column reasoning text;

create table session_branches (
  session_key text not null,
  from_key text not null,
  up_to integer not null, -- seq of the last turn that it has from there
  at integer not null,
  primary key (session_key, from_key)
) strict, without rowid;
`,
};
