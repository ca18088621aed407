/** As migrations/048-push-subscriptions.ts. Never edited once released. */
export const pushSubscriptionTables = `
create table push_subscriptions (
  id text collate "C" primary key,
  principal text collate "C" not null,
  sign_in text collate "C" not null,
  endpoint text collate "C" not null unique,
  p256dh text collate "C" not null,
  auth text collate "C" not null,
  browser text collate "C" not null,
  created_at bigint not null,
  sent_at bigint,
  problem text collate "C"
);
`;
