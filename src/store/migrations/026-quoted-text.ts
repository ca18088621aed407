/** Words of others that a message passes on, apart from its sender's. Never edited once released. */
import type { Migration } from "./migration.ts";

export const quotedText: Migration = {
  name: "quoted-text",
  sql: `alter table inbox add column quoted text; -- a JSON list; null: none`,
};
