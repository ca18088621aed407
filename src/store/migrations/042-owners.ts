/** Open work knows the gateway that does it. Never edited once released. */
import type { Migration } from "./migration.ts";

export const owners: Migration = {
  name: "owners",
  sql: `
-- an instance id; null: from before there was this column, and so of a gateway that is gone
alter table inbox add column node text;
alter table turns add column node text;
alter table tool_calls add column node text;
alter table approvals add column node text;
alter table job_runs add column node text;
alter table responses add column node text;
`,
};
