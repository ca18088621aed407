/** Turns and replies by time, for a timeline of everything. Never edited once released. */
import type { Migration } from "./migration.ts";

export const activity: Migration = {
  name: "activity",
  sql: `
create index turns_by_time on turns (begun_at, seq);
create index outbox_by_time on outbox (created_at, seq);
`,
};
