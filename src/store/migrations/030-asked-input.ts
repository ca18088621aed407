/** Tool calls keep what was asked for where it differs from what was used. Never edited once released. */
import type { Migration } from "./migration.ts";

export const askedInput: Migration = {
  name: "asked input",
  sql: "alter table tool_calls add column asked text;",
};
