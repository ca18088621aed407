/** Replies of several messages: doubt is counted for the current message. Never edited once released. */
import type { Migration } from "./migration.ts";

export const partMessages: Migration = {
  name: "part-messages",
  sql: `
alter table outbox add column delivered integer not null default 0;
alter table outbox add column doubt integer not null default 0;
`,
};
