/** What the owner has to be told about jobs is kept until it was told. Never edited once released. */
import type { Migration } from "./migration.ts";

export const jobAlerts: Migration = {
  name: "job-alerts",
  sql: `
create table job_alerts (
  seq integer primary key,
  id text not null unique,
  job_id text not null,
  kind text not null check (kind in ('failing', 'disabled', 'recovered')),
  failures integer not null,
  because text,
  at integer not null
) strict;
`,
};
