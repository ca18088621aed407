/** Things that one gateway at a time may do. Never edited once released. */
import type { Migration } from "./migration.ts";

export const nodeLeases: Migration = {
  name: "node-leases",
  sql: `
create table node_leases (
  kind text not null,
  key text not null,
  owner text, -- an instance id; null: given back
  number integer not null,
  since integer not null,
  primary key (kind, key)
) strict, without rowid;
`,
};
