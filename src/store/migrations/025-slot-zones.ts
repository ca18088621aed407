/** The zone in which a job's next slot was computed. Never edited once released. */
import type { Migration } from "./migration.ts";

export const slotZones: Migration = {
  name: "slot-zones",
  sql: `
alter table jobs add column slot_zone text; -- null: not known, or no cron expression
create index jobs_by_slot_zone on jobs (slot_zone)
  where state = 'active' and kind = 'cron' and timezone is null and slot_zone is not null;
`,
};
