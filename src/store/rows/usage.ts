/** The usage ledger: a row for everything that was paid for, and sums for each day that are kept up in the same transaction. Questions are answered from the sums. */
import {
  type Spent,
  USAGE_BY,
  type UsageBy,
  type UsageItem,
  type UsageStore,
  type UsageSum,
} from "../../contracts/store/usage.ts";
import { sql as raw } from "kysely";
import type { Builder, Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { toUsageColumns, wholeNumber } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";
import type { UsageTable } from "./usage-tables.ts";

export function createUsage({ sql, read, write }: RowDeps): UsageStore {
  const book = createBooking(sql);
  const prune = createPruning(sql);
  const all = sql.prepare((db, p: Params<Asked>) => added(db, p).select("key").groupBy("key"));
  const total = sql.prepare((db, p: Params<Asked>) => added(db, p));
  return {
    record: (spent) => write(() => book(spent)),
    report: ({ from, to, by }, { limit, cursor }) =>
      read(function* () {
        const skip = skipped(cursor);
        const rows = yield* sql.all((db) => sorted(db, { from, to, by }, { limit: limit + 1, skip }));
        const more = rows.length > limit ? { next: String(skip + limit) } : {};
        const sum = toSum(yield* total.first({ from, to, by: "day" }));
        return { items: rows.slice(0, limit).map(toItem), total: sum, ...more };
      }),
    sums: (asked) =>
      read(function* () {
        return (yield* all.all(asked)).map(toItem);
      }),
    prune: (before) => write(() => prune(before)),
  };
}

/** By which column of a record each sum is kept. */
const KEY_OF_SUM = {
  day: "day",
  agent: "agent_id",
  origin: "origin",
  model: "model",
  principal: "principal",
} as const satisfies Record<UsageBy, keyof UsageTable>;

/** Inside of somebody's transaction. False: it was written before. */
export function createBooking(sql: Sql): (spent: Spent) => Steps<boolean> {
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
  const addUp = sql.prepare((db, p: Params<UsageTable>) =>
    db
      .insertInto("usage_days")
      .values(
        // one statement for all sums: the reply of a turn waits for them
        Object.entries(KEY_OF_SUM).map(([what, column]) => ({
          ...p.row("day", "input_tokens", "cached_tokens", "output_tokens", "cost_usd"),
          what: raw.lit(what as UsageBy),
          key: p(column),
          turns: 1,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(["what", "day", "key"]).doUpdateSet(({ ref, eb }) => ({
          turns: eb("usage_days.turns", "+", 1),
          input_tokens: eb("usage_days.input_tokens", "+", ref("excluded.input_tokens")),
          cached_tokens: eb("usage_days.cached_tokens", "+", ref("excluded.cached_tokens")),
          output_tokens: eb("usage_days.output_tokens", "+", ref("excluded.output_tokens")),
          cost_usd: eb("usage_days.cost_usd", "+", ref("excluded.cost_usd")),
        })),
      ),
  );
  return function* ({ day, id, agentId, principal, origin, model, usage }) {
    const sum = { ...toUsageColumns(usage), cached_tokens: wholeNumber(usage.cachedTokens ?? 0) };
    const row = { day, id, agent_id: agentId, principal, origin, model, ...sum };
    if ((yield* add.run(row)) === 0) return false;
    yield* addUp.run(row);
    return true;
  };
}

/** Rows in one transaction: a few milliseconds. */
const PRUNED_AT_ONCE = 2_000;

/** The sums go with the last rows, so that an unfinished deletion is never taken for a finished one. */
function createPruning(sql: Sql): (before: string) => Steps<number> {
  const lastOfSome = sql.prepare((db, p: Params<{ before: string; offset: number }>) =>
    db
      .selectFrom("usage")
      .select(["day", "id"])
      .where("day", "<", p("before"))
      .orderBy("day")
      .orderBy("id")
      .limit(1)
      .offset(p("offset")),
  );
  const some = sql.prepare((db, p: Params<{ day: string; id: string }>) =>
    db.deleteFrom("usage").where(raw<boolean>`(day, id) <= (${p("day")}, ${p("id")})`),
  );
  const rest = sql.prepare((db, p: Params<{ before: string }>) =>
    db.deleteFrom("usage").where("day", "<", p("before")),
  );
  const days = sql.prepare((db, p: Params<{ what: UsageBy; before: string }>) =>
    db.deleteFrom("usage_days").where("what", "=", p("what")).where("day", "<", p("before")),
  );
  return function* (before) {
    const last = yield* lastOfSome.first({ before, offset: PRUNED_AT_ONCE - 1 });
    if (last) return yield* some.run(last);
    for (const what of USAGE_BY) yield* days.run({ what, before });
    return yield* rest.run({ before });
  };
}

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly by: UsageBy;
}

interface Added {
  readonly turns: number | null;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly cost: number | null;
}

function added(db: Builder, p: Params<Asked>) {
  return db
    .selectFrom("usage_days")
    .select(({ fn }) => [
      fn.sum<number | null>("turns").as("turns"),
      fn.sum<number | null>("input_tokens").as("input"),
      fn.sum<number | null>("cached_tokens").as("cached"),
      fn.sum<number | null>("output_tokens").as("output"),
      fn.sum<number | null>("cost_usd").as("cost"),
    ])
    .where("what", "=", p("by"))
    .where("day", ">=", p("from"))
    .where("day", "<=", p("to"));
}

function sorted(db: Builder, asked: Asked, { limit, skip }: { readonly limit: number; readonly skip: number }) {
  const given = Object.assign(<K extends keyof Asked>(name: K) => asked[name], { row: () => asked });
  const query = added(db, given as Params<Asked>)
    .select("key")
    .groupBy("key");
  const ordered =
    asked.by === "day" ? query.orderBy("key", "desc") : query.orderBy("cost", "desc").orderBy("input", "desc");
  return ordered.orderBy("key").limit(limit).offset(skip);
}

function toItem({ key, ...row }: Added & { readonly key: string }): UsageItem {
  return { key, ...toSum(row) };
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
