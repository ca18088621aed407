/** A job knows the conversation it was made in. Never edited once released. */
import type { Migration } from "./migration.ts";

export const jobHomes: Migration = {
  name: "job-homes",
  sql: `
alter table jobs add column session_key text;
`,
};
