/** Messages in the inbox that stand for a reaction of a person. Their `origin` is a chat, which is all that its check knows. Never edited once released. */
import type { Migration } from "./migration.ts";

export const reactionsThatWake: Migration = {
  name: "reactions-that-wake",
  sql: `
alter table inbox add column begun_by text check (begun_by in ('reaction'));
`,
};
