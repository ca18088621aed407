/** A session may have a queue mode of its own, and the inbox knows which messages came when their session was full. Never edited once released. */
import type { Migration } from "../migration.ts";

/** `overflow`: 0 for a message that waits in its lane, 1 for one that will be shown shortened, 2 for one that will only be counted. */
export const queueModes: Migration = {
  name: "queue-modes",
  sql: `
alter table sessions add column queue_mode text check (queue_mode in ('collect', 'steer', 'followup', 'interrupt'));
alter table inbox add column overflow integer not null default 0 check (overflow in (0, 1, 2));
create index inbox_overflow on inbox (session_key, overflow, seq) where overflow > 0 and done = 0;
`,
};
