/** As migrations/045-branches.ts. Never edited once released. */
export const branchTables = `
alter table turns add column began_bytes bigint;
alter table turns add column settled_bytes bigint;
alter table turns add column superseded_at bigint;
alter table turns add column reasoning text collate "C";

create table session_branches (
  session_key text collate "C" not null,
  from_key text collate "C" not null,
  up_to bigint not null, -- seq of the last turn that it has from there
  at bigint not null,
  primary key (session_key, from_key)
);
`;
