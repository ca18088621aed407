/** Alerts about jobs stay until the owner was told; files of old job sessions are listed until they are deleted. Never edited once released. */
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

create index jobs_of_file on jobs (id) where source = 'config'; -- few among many, looked for at every start

create index sessions_of_runs on sessions (last_activity_at) where channel in ('cron', 'heartbeat');

create table dead_files (
  file text primary key not null -- of a session that is gone, to be taken away
) strict, without rowid;
`,
};
