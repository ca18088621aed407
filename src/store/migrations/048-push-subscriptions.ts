/** Browsers that get notifications. Never edited once released. */
import type { Migration } from "./migration.ts";

export const pushSubscriptions: Migration = {
  name: "push-subscriptions",
  sql: `
create table push_subscriptions (
  id text primary key,
  principal text not null,
  sign_in text not null, -- the digest of a cookie
  endpoint text not null unique,
  p256dh text not null,
  auth text not null,
  browser text not null,
  created_at integer not null,
  sent_at integer, -- null: never
  problem text -- of the last notification; null: none
) strict, without rowid;
`,
};
