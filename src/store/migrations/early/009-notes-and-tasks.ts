/** Notes that can be searched and tasks that can be listed, each of one person. Never edited once released. */
import type { Migration } from "../migration.ts";

/** Also made anew where it is damaged. */
export const NOTES_INDEX = `create virtual table notes_index using fts5(
  owner_key, title, content, tags,
  content = 'notes', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);`;

/**
 * The search index keeps no copy of the text: it reads the notes. `owner_key` is one word to it, so that a search walks one person's notes
 * only. `number` counts the rows of one person, so that nobody has to. `place` is the order of a list: by due date, or by completion, latest first.
 */
export const notesAndTasks: Migration = {
  name: "notes-and-tasks",
  sql: `
create table notes (
  seq integer primary key,
  id text not null unique,
  owner text not null,
  number integer not null,
  owner_key text not null,
  once text not null,
  title text not null,
  content text not null,
  tags text not null,
  created_at integer not null
) strict;
create unique index notes_once on notes (owner, once);
create unique index notes_numbered on notes (owner, number);
${NOTES_INDEX}

create table tasks (
  seq integer primary key,
  id text not null unique,
  owner text not null,
  number integer not null,
  once text not null,
  title text not null,
  due_date text,
  priority text not null check (priority in ('low', 'medium', 'high')),
  status text not null check (status in ('pending', 'completed')),
  place integer not null,
  created_at integer not null,
  completed_at integer
) strict;
create unique index tasks_once on tasks (owner, once);
create unique index tasks_numbered on tasks (owner, number);
create index tasks_in_order on tasks (owner, status, place, seq);
`,
};
