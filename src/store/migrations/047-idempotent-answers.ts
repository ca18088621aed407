/** Answers to requests with an Idempotency-Key, so that a repeat is told the same after a restart and at another gateway. Never edited once released. */
import type { Migration } from "./migration.ts";

export const idempotentAnswers: Migration = {
  name: "idempotent-answers",
  sql: `
create table idempotent_answers (
  principal text not null,
  key text not null,
  digest text not null, -- of everything that was sent
  at integer not null,
  node text not null, -- the gateway that answers it
  answer text, -- JSON; null: it is being answered
  primary key (principal, key)
) strict, without rowid;
create index idempotent_answers_by_age on idempotent_answers (at);
`,
};
