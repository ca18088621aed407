/** Tools that a job cannot do without. Never edited once released. */
import type { Migration } from "./migration.ts";

export const jobNeeds: Migration = {
  name: "job-needs",
  sql: `alter table jobs add column needs text; -- a JSON list of names`,
};
