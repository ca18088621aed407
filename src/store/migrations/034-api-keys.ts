/** Keys of programs, by the digest of their secret. Never edited once released. */
import type { Migration } from "./migration.ts";

export const apiKeys: Migration = {
  name: "api-keys",
  sql: `
create table api_keys (
  id text primary key,
  digest text not null unique,
  name text not null,
  scopes text not null, -- JSON
  agents text not null, -- JSON
  tools text not null, -- JSON
  daily_usd real, -- null: no limit
  daily_tokens integer,
  requests_per_minute integer,
  expires_at integer, -- null: never
  created_at integer not null,
  created_by text not null,
  last_used_at integer -- null: never
) strict, without rowid;
`,
};
