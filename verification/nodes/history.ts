/**
 * What is there in the end, as rows. Gateways write the times of their turns by clocks that a fault may have shifted, so the database notes
 * by its own clock when a turn begins and ends, what becomes of a reply part and who is taken over from, in a schema that no gateway knows.
 */
import type { History, SentMessage, StoredMessage } from "./verdict.ts";
import type { NodesWorld } from "./world.ts";

type Row = Readonly<Record<string, unknown>>;

const RECORDER = `
create schema judge;
create table judge.turn_states (seq bigint generated always as identity, turn text, state text, at double precision);
create function judge.note_turn() returns trigger language plpgsql security definer as $$
begin
  insert into judge.turn_states (turn, state, at) values (new.id, new.state, extract(epoch from clock_timestamp()) * 1000);
  return null;
end $$;
create trigger judge_notes after insert or update of state on turns for each row execute function judge.note_turn();
create table judge.part_states (seq bigint generated always as identity, part text, state text, node text, claimed_by text, attempts int, lost int,
  doubt int, because text, at double precision);
create function judge.note_part() returns trigger language plpgsql security definer as $$
begin
  insert into judge.part_states (part, state, node, claimed_by, attempts, lost, doubt, because, at)
  values (new.id, new.state, new.node, new.claimed_by, new.attempts, new.lost, new.doubt, new.because, extract(epoch from clock_timestamp()) * 1000);
  return null;
end $$;
create trigger judge_notes after insert or update on outbox for each row execute function judge.note_part();
create table judge.takeovers (node text primary key, renewed_at double precision, at double precision);
create function judge.note_takeover() returns trigger language plpgsql security definer as $$
begin
  insert into judge.takeovers (node, renewed_at, at)
  values (new.id, new.renewed_at, extract(epoch from clock_timestamp()) * 1000) on conflict do nothing;
  return null;
end $$;
create trigger judge_notes after update of taken_over_by on nodes for each row when (new.taken_over_by is not null)
  execute function judge.note_takeover()`;

/** As soon as there are tables. */
export async function recordChanges({ sql }: Pick<NodesWorld, "sql">): Promise<void> {
  await sql.unsafe(RECORDER);
}

/** By the number in the row. */
const OVERFLOW = ["none", "shown", "counted"] as const satisfies readonly StoredMessage["overflow"][];

const sessionOf = (key: unknown): string => String(key).slice(String(key).lastIndexOf(":") + 1);

export async function readHistory({ sql }: Pick<NodesWorld, "sql">, sent: readonly SentMessage[]): Promise<History> {
  const messages = await sql`select session_key, text, turn_id, overflow from inbox order by seq`;
  const turns = await sql`
    select turns.id, turns.session_key, turns.state, min(noted.at) as begun_at,
      max(noted.at) filter (where noted.state <> 'running') as ended_at
    from turns join judge.turn_states noted on noted.turn = turns.id 
    group by turns.seq, turns.id, turns.session_key, turns.state order by turns.seq`;
  const replies = await sql`select turn_id, text, kind, state, channel, chat from outbox order by seq`;
  return {
    sent,
    messages: messages.map((row: Row) => ({
      session: sessionOf(row["session_key"]),
      text: String(row["text"]),
      turnId: row["turn_id"] === null ? null : String(row["turn_id"]),
      overflow: OVERFLOW[Number(row["overflow"])] ?? "none",
    })),
    turns: turns.map((row: Row) => ({
      id: String(row["id"]),
      session: sessionOf(row["session_key"]),
      state: row["state"] as History["turns"][number]["state"],
      begunAt: Number(row["begun_at"]),
      endedAt: row["ended_at"] === null ? null : Number(row["ended_at"]),
    })),
    replies: replies.map((row: Row) => ({
      turnId: String(row["turn_id"]),
      chat: String(row["chat"]),
      text: String(row["text"]),
      isNotice: row["kind"] === "notice",
      isSent: row["state"] === "sent",
      isInDoubt: row["channel"] === "telegram" && row["state"] === "ambiguous",
    })),
  };
}

/** What is still to be done, and how much has ended so far. */
export async function openWork({
  sql,
}: Pick<NodesWorld, "sql">): Promise<{ readonly open: number; readonly ended: number }> {
  const [row] = await sql`
    select (select count(*) from inbox where done = 0) + (select count(*) from turns where state = 'running')
      + (select count(*) from outbox where ended_at is null) as open,
      (select count(*) from turns where state <> 'running') + (select count(*) from outbox where ended_at is not null) as ended`;
  return { open: Number(row.open), ended: Number(row.ended) };
}

export async function countFailures({ sql }: Pick<NodesWorld, "sql">): Promise<Readonly<Record<string, number>>> {
  const rows = await sql`
    select coalesce(error_code, 'none') as code, count(*)::int as count from turns where state in ('failed', 'aborted') group by 1`;
  return Object.fromEntries((rows as readonly { code: string; count: number }[]).map((row) => [row.code, row.count]));
}

/** For whoever has to find out why something was left. */
export async function describeOpenWork({ sql, nodes }: NodesWorld, onLine: (line: string) => void): Promise<void> {
  const owners = await sql`
    select nodes.name, nodes.state, nodes.taken_over_by, count(inbox.id) as messages,
      (select count(*) from turns where turns.node = nodes.id and turns.state = 'running') as turns,
      (select count(*) from node_leases where owner = nodes.id) as leases
    from nodes left join inbox on inbox.node = nodes.id and inbox.done = 0 group by nodes.id order by nodes.started_at`;
  for (const row of owners as readonly Row[]) onLine(JSON.stringify(row));
  const waiting = await sql`
    select inbox.session_key, nodes.name, count(*)::int as messages, min(inbox.seq) as first, min(turns.state) as turn, min(turns.attempt) as attempt,
      min(lease.owner) as home
    from inbox left join nodes on nodes.id = inbox.node left join turns on turns.id = inbox.turn_id
      left join node_leases lease on lease.kind = 'session' and lease.key = inbox.session_key
    where done = 0 group by 1, 2 order by messages desc limit 20`;
  for (const row of waiting as readonly Row[]) onLine(`waits: ${JSON.stringify(row)}`);
  const parts = await sql`
    select chat, channel, nodes.name, outbox.state, count(*)::int as parts, min(because) as because
    from outbox left join nodes on nodes.id = outbox.node where ended_at is null group by 1, 2, 3, 4 order by parts desc limit 20`;
  for (const row of parts as readonly Row[]) onLine(`is not sent: ${JSON.stringify(row)}`);
  for (const node of nodes) {
    const token = node.process()?.token ?? "";
    const headers = { authorization: `Bearer ${token}` };
    const status = await fetch(`${node.url}/api/status`, { headers }).then((answer) => answer.text(), String);
    onLine(`${node.name} says: ${status}`);
    onLine(`${node.name} said: ${node.process()?.stderr().slice(-2_000) ?? "nothing"}`);
  }
}
