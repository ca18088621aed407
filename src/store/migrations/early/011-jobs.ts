/** Jobs with schedules, and a row for every slot of them. Never edited once released. */
import type { Migration } from "../migration.ts";

export const jobs: Migration = {
  name: "jobs",
  sql: `
create table jobs (
  id text primary key,
  source text not null check (source in ('config', 'person', 'agent')),
  created_by text not null,
  role text not null check (role in ('owner', 'member', 'guest')),
  agent_id text not null,
  channel text not null,
  account text not null,
  chat text not null,
  thread text,
  kind text not null check (kind in ('cron', 'every', 'at')),
  expr text not null,
  timezone text,
  mode text not null check (mode in ('isolated', 'main')),
  delivery text not null check (delivery in ('announce', 'direct', 'silent')),
  delete_after_run integer not null,
  catch_up text not null check (catch_up in ('skip', 'once', 'all')),
  overlap text not null check (overlap in ('skip', 'queue', 'allow')),
  timeout_ms integer,
  state text not null check (state in ('active', 'paused', 'disabled', 'done')),
  because text,
  created_at integer not null,
  anchor_at integer not null,
  next_at integer,
  failures integer not null,
  revision integer not null,
  task text not null
) strict, without rowid;
create index jobs_due on jobs (next_at, id) where state = 'active' and next_at is not null;
create index jobs_by_maker on jobs (created_by, id);

create table job_runs (
  seq integer primary key,
  id text not null unique,
  job_id text not null,
  slot integer not null,
  manual integer not null,
  status text not null check (status in ('running', 'waiting', 'ran', 'failed', 'skipped', 'missed')),
  reason text,
  attempt integer not null,
  started_at integer,
  ms integer,
  turn_id text,
  retry_at integer,
  written_at integer not null
) strict;
create unique index job_runs_once on job_runs (job_id, slot, manual);
create index job_runs_running on job_runs (job_id) where status = 'running';
create index job_runs_waiting on job_runs (job_id) where status = 'waiting';
create index job_runs_retry on job_runs (retry_at) where retry_at is not null;
create index job_runs_old on job_runs (written_at);
`,
};
