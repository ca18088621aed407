/** Requests to webhooks that were received before, and the webhook target of a job. Never edited once released. */
import type { Migration } from "./migration.ts";

export const webhookMarks: Migration = {
  name: "webhook-marks",
  sql: `
create table hook_marks (
  hook text not null,
  mark text not null, -- 'signed:' or 'key:', and a digest
  request_id text not null,
  fingerprint text not null,
  stored integer not null default 0,
  expires_at integer not null,
  primary key (hook, mark)
) strict, without rowid;
create index hook_marks_request on hook_marks (request_id);
create index hook_marks_old on hook_marks (expires_at);

alter table jobs add column webhook text;
`,
};
