/** Turns remember in how many crashes of the gateway they were at work. Never edited once released. */
import type { Migration } from "./migration.ts";

export const turnCrashes: Migration = {
  name: "turn-crashes",
  sql: `
alter table turns add column crashes integer not null default 0;
alter table turns add column at_work integer not null default 0;
`,
};
