/** Replies carry files, may answer a certain message, and may be changed or taken back after they were sent. Never edited once released. */
import type { Migration } from "../migration.ts";

export const postsAndFiles: Migration = {
  name: "posts-and-files",
  sql: `
alter table outbox add column attachments text not null default '[]';
alter table outbox add column reply_to text;
alter table outbox add column format text check (format in ('markdown', 'html', 'plain'));
alter table outbox add column edited_at integer;
alter table outbox add column deleted_at integer;
`,
};
