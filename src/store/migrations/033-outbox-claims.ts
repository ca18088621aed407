/** Reply parts know which gateway claimed them last, and until when the claim holds. Never edited once released. */
import type { Migration } from "./migration.ts";

export const outboxClaims: Migration = {
  name: "outbox-claims",
  sql: `
alter table outbox add column claimed_by text; -- an instance id; null: never claimed
alter table outbox add column claimed_until integer; -- null: given back
`,
};
