/** What else is on the audit log besides tool calls; the links of both are numbered in one chain. Never edited once released. */
import type { Migration } from "./migration.ts";

export const auditEntries: Migration = {
  name: "audit-entries",
  sql: `
create table audit_entries (
  seq integer primary key,
  kind text not null,
  at integer not null,
  actor text not null,
  subject text not null,
  no integer not null unique,
  hash text not null,
  detail text not null
) strict;
create index audit_entries_by_kind on audit_entries (kind, seq);
create index audit_entries_by_time on audit_entries (at);
`,
};
