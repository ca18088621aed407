/** Gateways that share a database say which settings and plugins are in force there, as digests. Never edited once released. */
import type { Migration } from "./migration.ts";

export const nodeVersions: Migration = {
  name: "node-versions",
  sql: `
alter table nodes add column settings text; -- null: it has not said
alter table nodes add column plugins text; -- null: it has not said
`,
};
