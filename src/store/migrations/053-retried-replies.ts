/** Replies that a person has sent again: when, and whether they had been in doubt. Never edited once released. */
import type { Migration } from "./migration.ts";

export const retriedReplies: Migration = {
  name: "retried-replies",
  sql: `
alter table outbox add column retried_at integer; -- null: never
alter table outbox add column retried_from text check (retried_from in ('dead', 'ambiguous'));
create index outbox_retried on outbox (retried_at, seq) where retried_from = 'ambiguous';
`,
};
