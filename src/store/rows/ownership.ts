/**
 * Work belongs to the gateway that does it. One that takes over makes what gateways left that are gone its own, in the transaction in which it
 * says that they are, and nothing of one that lives.
 */
import { type RawBuilder, sql as raw } from "kysely";
import type { InstanceId } from "../../contracts/ids.ts";
import type { TakenMessage, TakenOver } from "../../contracts/store/nodes.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

/**
 * Whether no live gateway owns the row. `except`: one that begins and has no work yet is not counted as live, because rows in its own name are
 * those of a former process in a test, where ids come again; null: all count. Rows without an owner are older than this column.
 */
export function isLeft(except: InstanceId | null, column = "node"): RawBuilder<boolean> {
  const owner = raw.ref(column);
  return raw<boolean>`(${owner} is null or ${owner} not in (select id from nodes where state <> 'gone' and id is distinct from ${except}))`;
}

interface Taking {
  readonly me: InstanceId;
  readonly except: InstanceId | null;
}

type MovedWork = Pick<TakenOver, "messages" | "runs" | "responses" | "parts" | "sessions">;

/** Makes open work of gateways that are gone that of this one. Runs inside of a takeover. */
export function createWorkMove(sql: Sql, me: InstanceId): (except: InstanceId | null) => Steps<MovedWork> {
  const { messages, turns, runs, responses, parts } = workMoves(sql);
  const moveLeases = createLeaseMove(sql, me);
  return function* (except) {
    const taking = { me, except };
    const moved = yield* messages.all(taking);
    yield* turns.run(taking);
    return {
      messages: moved
        .filter(({ overflow }) => overflow < 2)
        .toSorted((one, other) => one.seq - other.seq)
        .map(({ id, session_key, turn_id }): TakenMessage => ({ id, sessionKey: session_key, turnId: turn_id })),
      runs: (yield* runs.all(taking)).map(({ id }) => id),
      responses: (yield* responses.all(taking)).map(({ id }) => id),
      parts: yield* parts.run(taking),
      sessions: yield* moveLeases(except),
    };
  };
}

/** Conditions word for word as in the indexes of what is open. */
function workMoves(sql: Sql) {
  return {
    messages: sql.prepare((db, p: Params<Taking>) =>
      db
        .updateTable("inbox")
        .set({ node: p("me") })
        .where("done", "=", raw.lit(0))
        .where(isLeft(p("except")))
        .returning(["id", "session_key", "turn_id", "seq", "overflow"]),
    ),
    turns: sql.prepare((db, p: Params<Taking>) =>
      db
        .updateTable("turns")
        .set({ node: p("me") })
        .where("state", "=", raw.lit("running"))
        .where(isLeft(p("except"))),
    ),
    runs: sql.prepare((db, p: Params<Taking>) =>
      db
        .updateTable("job_runs")
        .set({ node: p("me") })
        .where("status", "=", raw.lit("running"))
        .where(isLeft(p("except")))
        .returning("id"),
    ),
    responses: sql.prepare((db, p: Params<Taking>) =>
      db
        .updateTable("responses")
        .set({ node: p("me") })
        .where("ended", "=", raw.lit(0))
        .where(isLeft(p("except")))
        .returning("id"),
    ),
    // with the claim on it: what was being sent may have arrived, and its new owner finds out
    parts: sql.prepare((db, p: Params<Taking>) =>
      db
        .updateTable("outbox")
        .set({ node: p("me"), claimed_by: raw`case when claimed_by is not null then ${p("me")} end` })
        .where("ended_at", "is", null)
        .where(isLeft(p("except"))),
    ),
  };
}

/** Sessions with something to do go on here; everything else that was leased is free. How many sessions came. */
function createLeaseMove(sql: Sql, me: InstanceId): (except: InstanceId | null) => Steps<number> {
  const keep = sql.prepare((db, p: Params<Taking>) =>
    db
      .updateTable("node_leases")
      .set((eb) => ({ owner: p("me"), number: eb("number", "+", 1), since: sql.dialect.now }))
      .where("owner", "is not", null)
      .where("kind", "=", raw.lit("session"))
      .where(isLeft(p("except"), "owner"))
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom("inbox")
            .select("inbox.id")
            .where("inbox.done", "=", raw.lit(0))
            .whereRef("inbox.session_key", "=", raw.ref("node_leases.key")),
        ),
      ),
  );
  const free = sql.prepare((db, p: Params<Taking>) =>
    db
      .updateTable("node_leases")
      .set({ owner: null })
      .where("owner", "is not", null)
      .where("owner", "<>", p("me"))
      .where(isLeft(p("except"), "owner")),
  );
  return function* (except) {
    const taking = { me, except };
    const kept = yield* keep.run(taking);
    yield* free.run(taking);
    return kept;
  };
}

/** Whether this gateway owns something that has not ended. */
export function ownsWork(me: InstanceId): RawBuilder<boolean> {
  return raw<boolean>`(exists (select 1 from inbox where done = 0 and node = ${me})
    or exists (select 1 from turns where state = 'running' and node = ${me})
    or exists (select 1 from job_runs where status = 'running' and node = ${me})
    or exists (select 1 from responses where ended = 0 and node = ${me})
    or exists (select 1 from outbox where ended_at is null and node = ${me})
    or exists (select 1 from tool_calls where status in ('running', 'pending') and node = ${me}))`;
}
