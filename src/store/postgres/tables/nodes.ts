/** The gateways that use the database, and the end of writes of one from which another has taken over. Never edited once released. */

/**
 * Every batch of writes changes the row of its writer in `batches` before it commits. A node that is taken over has that row locked in the same
 * transaction, so each of its batches is either committed before, or refused.
 */
export const nodeTables = `
create table nodes (
  id text collate "C" primary key,
  state_directory text collate "C" not null,
  name text collate "C" not null,
  version text collate "C" not null,
  state text collate "C" not null check (state in ('live', 'draining', 'gone')),
  started_at bigint not null,
  renewed_at bigint not null,
  expires_at bigint,
  taken_over_by text collate "C"
);
create index nodes_not_gone on nodes (started_at) where state <> 'gone';
create index nodes_by_start on nodes (started_at);

alter table batches add column superseded boolean not null default false;

create function supersede_writer() returns trigger language plpgsql as $$
begin
  update batches set superseded = true where writer = new.id and not superseded;
  return null;
end $$;
create trigger nodes_taken_over after update of taken_over_by on nodes
  for each row when (new.taken_over_by is not null) execute function supersede_writer();

create function refuse_superseded() returns trigger language plpgsql as $$
begin
  raise exception 'another gateway has taken over' using errcode = 'GW001';
end $$;
create trigger batches_superseded before update on batches
  for each row when (old.superseded) execute function refuse_superseded();
`;

/** Open work knows the gateway that does it. */
export const ownerColumns = ["inbox", "turns", "tool_calls", "approvals", "job_runs", "responses"]
  .map((table) => `alter table ${table} add column node text collate "C";`)
  .join("\n");

/** Things that one gateway at a time may do. */
export const nodeLeaseTables = `
create table node_leases (
  kind text collate "C" not null,
  key text collate "C" not null,
  owner text collate "C",
  number bigint not null,
  since bigint not null,
  primary key (kind, key)
);
`;

/** Reply parts know the gateway that sends them. A node that has ended keeps a time only while it has left something to others. */
export const outboxOwnerTables = `
alter table outbox add column node text collate "C";
create index node_leases_by_owner on node_leases (owner) where owner is not null;
update nodes set expires_at = null where state = 'gone';
-- a gateway reads its own parts alone, and its writes are committed one after the other: no number needs a lock that all gateways share
drop trigger outbox_in_order on outbox;
drop function number_reply_part();
`;

/** What gateways say to each other. It is for the moment, so nothing of it is written to the log of the server. */
export const letterTables = `
create unlogged table node_letters (
  from_node text collate "C" not null,
  number bigint not null,
  to_node text collate "C",
  kind text collate "C" not null,
  body text collate "C" not null,
  at bigint not null,
  primary key (from_node, number)
);
`;
