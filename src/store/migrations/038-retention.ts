/** Ways to what is old: turns by their end, conversations and media by their age, and messages with files. Never edited once released. */
import type { Migration } from "./migration.ts";

/** The same on both engines. */
export const retention: Migration = {
  name: "retention",
  sql: `
create index turns_by_end on turns (ended_at, id) where ended_at is not null;
create index conversations_by_age on conversations (ended_at, file);
create index media_by_age on media (at, id);
create index inbox_with_files on inbox (session_key) where attachments <> '[]';
create index outbox_with_files on outbox (session_key) where attachments <> '[]';
`,
};
