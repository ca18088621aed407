/** Reply parts know the gateway that sends them, and node leases are found by their owner. Never edited once released. */
import type { Migration } from "./migration.ts";

export const outboxOwners: Migration = {
  name: "outbox-owners",
  sql: `
alter table outbox add column node text; -- an instance id; null: from before there was this column, and so of a gateway that is gone
create index node_leases_by_owner on node_leases (owner) where owner is not null;
-- from now on a node that has ended keeps a time only while it has left something to others
update nodes set expires_at = null where state = 'gone';
`,
};
