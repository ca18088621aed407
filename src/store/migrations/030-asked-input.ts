/** Tool calls keep what was asked for where it differs from what was used, and a call that the owner denied is found by its id. Never edited once released. */
import type { Migration } from "./migration.ts";

export const askedInput: Migration = {
  name: "asked-input",
  sql: `
alter table tool_calls add column asked text;
create index tool_calls_denied on tool_calls (scope, call_id, seq) where status = 'blocked' and reply is not null;
`,
};
