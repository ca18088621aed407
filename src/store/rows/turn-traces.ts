/** Traces of turns: outcome, usage and spans. Only reads; the end of a turn writes them. */
import { type Selectable, sql as raw } from "kysely";
import type { TurnId } from "../../contracts/ids.ts";
import type { Span } from "../../contracts/queue.ts";
import type { TurnCost } from "../../contracts/store/activity.ts";
import type { TurnStore, TurnToolCall, TurnTrace } from "../../contracts/store/turns.ts";
import type { Dialect } from "../dialect.ts";
import type { TurnTable } from "../schema.ts";
import type { Builder, Params } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeJson, fromUsageColumns } from "./codec.ts";
import { numberBefore, pageOf, pageSize } from "./paging.ts";
import type { RowDeps } from "./row-deps.ts";
import { withinReach } from "./session-reach.ts";

const COLUMNS = [
  ...["seq", "id", "session_key", "agent_id", "state", "attempt", "model", "error_code"],
  ...["input_tokens", "output_tokens", "cost_usd", "begun_at", "ended_at", "spans"],
] as const satisfies readonly (keyof TurnTable)[];

type TraceRow = Pick<Selectable<TurnTable>, (typeof COLUMNS)[number]>;
type Filter = Parameters<TurnStore["list"]>[0];

export function createTurnTraces(
  { sql, read }: Pick<RowDeps, "sql" | "read">,
  toolCallsOf: (turnId: TurnId) => Steps<readonly TurnToolCall[]>,
): Pick<TurnStore, "list" | "get" | "costsOf"> {
  const byId = sql.prepare((db, p: Params<{ id: TurnId }>) =>
    db
      .selectFrom("turns")
      .select([...COLUMNS, "reasoning"])
      .where("id", "=", p("id")),
  );
  const cost = sql.prepare((db, p: Params<{ id: TurnId }>) =>
    db
      .selectFrom("turns")
      .select(["begun_at", "ended_at", "input_tokens", "output_tokens", "cost_usd"])
      .where("id", "=", p("id")),
  );
  const firstMessage = sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
    db.selectFrom("inbox").select("received_at").where("turn_id", "=", p("turnId")).orderBy("seq").limit(1),
  );
  const parts = sql.prepare((db, p: Params<{ turnId: TurnId }>) =>
    db.selectFrom("outbox").select(["state", "ended_at"]).where("turn_id", "=", p("turnId")),
  );
  function* trace(row: TraceRow): Steps<TurnTrace> {
    const acceptedAt = (yield* firstMessage.first({ turnId: row.id }))?.received_at ?? row.begun_at;
    const deliveredAt = lastSent(yield* parts.all({ turnId: row.id }));
    return { turn: factsOf(row, acceptedAt), spans: spansOf(row, acceptedAt, deliveredAt), deliveredAt };
  }

  return {
    list: (filter, page) =>
      read(function* () {
        const limit = pageSize(page);
        const rows: TraceRow[] = yield* sql.all((db) =>
          listQuery(db, sql.dialect, filter, numberBefore(page)).limit(limit + 1),
        );
        const shown = pageOf(
          rows,
          limit,
          (row) => row,
          ({ seq }) => [seq],
        );
        const items: TurnTrace[] = [];
        for (const row of shown.items) items.push(yield* trace(row));
        return { ...shown, items };
      }),
    get: (turnId) =>
      read(function* () {
        const row = yield* byId.first({ id: turnId });
        if (!row) return null;
        const details = { ...(yield* trace(row)), toolCalls: yield* toolCallsOf(turnId) };
        return row.reasoning === null ? details : { ...details, reasoning: row.reasoning };
      }),
    costsOf: (turnIds) =>
      read(function* () {
        const costs: Record<string, TurnCost> = {};
        for (const id of new Set(turnIds)) {
          const row = yield* cost.first({ id });
          if (row && row.ended_at !== null)
            costs[id] = { ms: Math.max(0, row.ended_at - row.begun_at), usage: fromUsageColumns(row) };
        }
        return costs;
      }),
  };
}

/** Walks turns from the cursor on. The outcome is written out, not passed: only so does SQLite see that the small indexes fit. */
function listQuery(db: Builder, dialect: Dialect, { sessionKey, outcome, within }: Filter, before: number) {
  let query = db.selectFrom("turns").select(COLUMNS).where("seq", "<", before).orderBy("seq", "desc");
  if (sessionKey !== undefined) query = query.where("session_key", "=", sessionKey);
  if (within) query = query.where(withinReach(dialect, "session_key", within));
  if (outcome !== undefined) query = query.where("state", "=", raw.lit(outcome));
  return query;
}

/** Null while a part waits, and when none was ever sent. */
function lastSent(parts: readonly { readonly state: string; readonly ended_at: number | null }[]): number | null {
  if (parts.some(({ state }) => state === "pending")) return null;
  const sent = parts.flatMap(({ state, ended_at }) => (state === "sent" && ended_at !== null ? [ended_at] : []));
  return sent.length > 0 ? Math.max(...sent) : null;
}

function factsOf(row: TraceRow, acceptedAt: number): TurnTrace["turn"] {
  return {
    turnId: row.id,
    sessionKey: row.session_key,
    agentId: row.agent_id,
    outcome: row.state === "running" ? null : row.state,
    attempt: row.attempt,
    model: row.model || null,
    errorCode: row.error_code,
    usage: fromUsageColumns(row),
    acceptedAt,
    begunAt: row.begun_at,
    endedAt: row.ended_at,
  };
}

function spansOf(row: TraceRow, acceptedAt: number, deliveredAt: number | null): readonly Span[] {
  const stored = decodeJson(row.spans);
  const spans = Array.isArray(stored) ? stored.filter(isSpan) : [];
  if (deliveredAt === null || row.ended_at === null) return spans;
  const delivery = {
    name: "delivery",
    startMs: row.ended_at - acceptedAt,
    ms: Math.max(0, deliveredAt - row.ended_at),
  };
  return [...spans, delivery];
}

function isSpan(value: unknown): value is Span {
  if (typeof value !== "object" || value === null) return false;
  const { name, startMs, ms } = value as Partial<Record<keyof Span, unknown>>;
  return typeof name === "string" && Number.isFinite(startMs) && Number.isFinite(ms);
}
