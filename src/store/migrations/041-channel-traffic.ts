/** Messages and replies of one account of a channel, newest first. Never edited once released. */
import type { Migration } from "./migration.ts";

/** The same on both engines. An expression, so that no other question about a channel walks all messages of an account. */
export const channelTraffic: Migration = {
  name: "channel-traffic",
  sql: `
create index inbox_by_account on inbox ((channel || '/' || account), seq);
create index outbox_by_account on outbox ((channel || '/' || account), seq);
`,
};
