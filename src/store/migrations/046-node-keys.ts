/** Gateways that share a database have the same keys, and say which. Never edited once released. */
import type { Migration } from "./migration.ts";

export const nodeKeys: Migration = {
  name: "node-keys",
  sql: "alter table nodes add column key_id text; -- null: from before there was this column",
};
