/** Session files and media in chunks. SQLite has no such tables: there they are files in the state directory. Never edited once released. */
export const fileTables = `
create table files (
  name text collate "C" primary key,
  generation bigint not null,
  bytes bigint not null,
  digest text collate "C" not null,
  chunks bigint not null,
  staged boolean not null default false,
  at bigint not null
);
create index files_unfinished on files (at) where generation = 0;

create table file_chunks (
  file text collate "C" not null,
  generation bigint not null,
  position bigint not null,
  bytes bigint not null,
  digest text collate "C" not null,
  data bytea,
  object text collate "C",
  primary key (file, generation, position)
);
`;
