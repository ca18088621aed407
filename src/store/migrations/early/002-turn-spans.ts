/** Where the time of a turn went. A column of the turn itself, so that it is written by the statement that ends the turn and costs no write of its own. */
import type { Migration } from "../migration.ts";

export const turnSpans: Migration = {
  name: "turn-spans",
  sql: `
alter table turns add column spans text not null default '[]';
create index turns_failed on turns (seq) where state = 'failed'; -- few among many: a list of them must not walk all the others
create index turns_aborted on turns (seq) where state = 'aborted';
`,
};
