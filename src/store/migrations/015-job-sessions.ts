/** Jobs know the session they were made in. Never edited once released. */
import type { Migration } from "./migration.ts";

export const jobSessions: Migration = {
  name: "job-sessions",
  sql: `
alter table jobs add column session_key text;
`,
};
