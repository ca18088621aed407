/** The gateways that use the database. Never edited once released. */
import type { Migration } from "./migration.ts";

export const nodes: Migration = {
  name: "nodes",
  sql: `
create table nodes (
  id text primary key, -- an instance id
  state_directory text not null, -- equal for all processes that held the same one, one after the other
  name text not null,
  version text not null,
  state text not null check (state in ('live', 'draining', 'gone')),
  started_at integer not null,
  renewed_at integer not null,
  expires_at integer, -- null: for as long as its process holds the file
  taken_over_by text -- an instance id; null: nobody has
) strict;
create index nodes_not_gone on nodes (started_at) where state <> 'gone';
create index nodes_by_start on nodes (started_at);
`,
};
