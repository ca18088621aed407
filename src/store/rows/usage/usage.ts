/** The books: rows of what was paid for, found by day. A row is written with the end of its turn, or by itself. */
import type { UsageBy, UsageItem, UsageStore, UsageSum, Spent, UsageScope } from "../../../contracts/store/usage.ts";
import type { UsageTable } from "../../schema.ts";
import type { Builder, Params, Sql } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";

const COLUMNS: Readonly<Record<UsageBy, Exclude<keyof UsageTable, `${string}_tokens` | "cost_usd" | "id">>> = {
  day: "day",
  agent: "agent_id",
  origin: "origin",
  model: "model",
  principal: "principal",
};

export function createUsage({ sql, read, write }: RowDeps): UsageStore {
  const book = createBooking(sql);
  const scopes = sql.prepare((db, p: Params<Span>) =>
    added(db, p).select(["agent_id as agentId", "principal", "origin"]).groupBy(["agent_id", "principal", "origin"]),
  );
  const total = sql.prepare((db, p: Params<Span>) => added(db, p));
  const prune = sql.prepare((db, p: Params<{ before: string }>) =>
    db.deleteFrom("usage").where("day", "<", p("before")),
  );
  return {
    record: (spent) => write(() => book(spent)),
    report: ({ from, to, by }, { limit, cursor }) =>
      read(() => {
        const skip = skipped(cursor);
        const rows = sql.all((db) => grouped(db, { from, to, by }, { limit: limit + 1, skip }));
        const items: UsageItem[] = rows.slice(0, limit).map(({ key, ...row }) => ({ key, ...toSum(row) }));
        const more = rows.length > limit ? { next: String(skip + limit) } : {};
        return { items, total: toSum(total.first({ from, to })), ...more };
      }),
    scopes: (span) =>
      read(() =>
        scopes.all(span).map(({ agentId, principal, origin, ...row }): UsageScope => ({
          agentId,
          principal,
          origin,
          sum: toSum(row),
        })),
      ),
    prune: (before) => write(() => prune.run({ before })),
  };
}

/** Inside of somebody's transaction. False: it was written before. */
export function createBooking(sql: Sql): (spent: Spent) => boolean {
  const add = sql.prepare((db, p: Params<UsageTable>) =>
    db
      .insertInto("usage")
      .values(
        p.row(
          ...(["day", "id", "agent_id", "principal", "origin", "model"] as const),
          ...(["input_tokens", "cached_tokens", "output_tokens", "cost_usd"] as const),
        ),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
  return ({ agentId, usage, ...spent }) =>
    add.run({
      ...{ day: spent.day, id: spent.id, principal: spent.principal, origin: spent.origin, model: spent.model },
      agent_id: agentId,
      input_tokens: whole(usage.inputTokens),
      cached_tokens: whole(usage.cachedTokens ?? 0),
      output_tokens: whole(usage.outputTokens),
      cost_usd: Number.isFinite(usage.costUsd) ? usage.costUsd : 0,
    }) > 0;
}

interface Span {
  readonly from: string;
  readonly to: string;
}

interface Added {
  readonly turns: number;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly cost: number | null;
}

function added(db: Builder, p: Params<Span>) {
  return db
    .selectFrom("usage")
    .select(({ fn }) => [
      fn.countAll<number>().as("turns"),
      fn.sum<number | null>("input_tokens").as("input"),
      fn.sum<number | null>("cached_tokens").as("cached"),
      fn.sum<number | null>("output_tokens").as("output"),
      fn.sum<number | null>("cost_usd").as("cost"),
    ])
    .where("day", ">=", p("from"))
    .where("day", "<=", p("to"));
}

function grouped(db: Builder, { by, ...span }: Span & { readonly by: UsageBy }, page: { limit: number; skip: number }) {
  const column = COLUMNS[by];
  const given = Object.assign((name: keyof Span) => span[name], { row: () => span });
  const query = added(db, given as Params<Span>)
    .select(`${column} as key` as const)
    .groupBy(column);
  const sorted = by === "day" ? query.orderBy(column, "desc") : query.orderBy("cost", "desc").orderBy("input", "desc");
  return sorted.orderBy(column).limit(page.limit).offset(page.skip);
}

function toSum(row: Added | null): UsageSum {
  return {
    turns: row?.turns ?? 0,
    inputTokens: row?.input ?? 0,
    cachedTokens: row?.cached ?? 0,
    outputTokens: row?.output ?? 0,
    costUsd: row?.cost ?? 0,
  };
}

/** How many a reader has seen; what is no such number begins from the start. */
function skipped(cursor: string | undefined): number {
  return /^\d{1,9}$/.test(cursor ?? "") ? Number(cursor) : 0;
}

/** Counts come from a model provider in the end; an odd one must not keep a turn from ending. */
function whole(count: number): number {
  return Number.isFinite(count) ? Math.round(count) : 0;
}
