/**
 * One timeline over several tables. Each is walked by its index of time, and no page looks at more rows than a reader would wait for.
 * A search of several tables goes back in all of them to the same moment: rows of one table beyond it would be looked at again by the next page.
 */
import { type RawBuilder, sql as raw } from "kysely";
import type { ActivityEntry, ActivityFilter, ActivityStore } from "../../contracts/store/activity.ts";
import type { Builder, Compilable, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeCursor, encodeCursor, NEWEST, pageSize } from "../rows/paging.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import { before, mergeWalks, newer, type Position, type Walk } from "./merge.ts";
import { type ActivityRow, type Source, SOURCES } from "./sources.ts";

/** Rows of each kind that a page looks at, by what one costs: five to ten milliseconds for each kind. */
const LOOKED_AT = { turn: 2_000, model: 5_000, tool: 10_000, job: 5_000, delivery: 5_000 } as const;

/** A search passes many rows of every table, and nothing else waits for it; a list without one reads a page of each. */
export function createActivity({
  sql: own,
  read,
  search,
  mask,
}: Pick<RowDeps, "sql" | "read" | "search" | "mask">): ActivityStore {
  const shown = (entry: ActivityEntry): ActivityEntry => ({
    ...entry,
    name: mask(entry.name),
    note: mask(entry.note),
  });
  return {
    async list(filter, page) {
      const limit = pageSize(page);
      const from = positionOf(page.cursor);
      const asked: readonly Asked[] = [...SOURCES.entries()]
        .filter(([, { kind }]) => filter.kind === undefined || filter.kind === kind)
        .map(([rank, source]) => ({ source, rank, terms: source.terms(filter), from, limit }));
      const find = function* (sql: Sql): Steps<Awaited<ReturnType<ActivityStore["list"]>>> {
        const { values, next, isShort } = mergeWalks(yield* walkAll(sql, asked), limit);
        const items = values
          .flat()
          .filter(({ outcome }) => filter.outcome === undefined || outcome === filter.outcome)
          .map(shown)
          .toSorted((one, other) => other.at - one.at);
        if (next === null) return { items };
        const cursor = encodeCursor([next.at, next.rank, next.seq]);
        return { items, next: cursor, ...(isShort ? { searchedTo: next.at } : {}) };
      };
      return isSearch(filter) ? search(find) : read(() => find(own));
    },
  };
}

function isSearch({ kind: _kind, ...narrowing }: ActivityFilter): boolean {
  return Object.values(narrowing).some((value) => value !== undefined && value !== "");
}

interface Asked {
  readonly source: Source;
  readonly rank: number;
  /** None: every row fits. */
  readonly terms: ReturnType<Source["terms"]>;
  readonly from: Position;
  readonly limit: number;
}

function* walkAll(sql: Sql, asked: readonly Asked[]): Steps<readonly Walk<readonly ActivityEntry[]>[]> {
  let horizon: Position | null = null;
  for (const one of asked) if (one.terms.length > 0) horizon = newer(horizon, yield* endOf(sql, one));
  const walks: Walk<readonly ActivityEntry[]>[] = [];
  for (const one of asked) walks.push(yield* walk(sql, one, horizon));
  return walks;
}

/** The last row that a page may look at in one table; null: all that are left. */
function* endOf(sql: Sql, { source, rank, from }: Asked): Steps<Position | null> {
  const { at, seq, kind } = source;
  const older = raw<boolean>`(${at}, ${seq}) < ${placeOf(from, rank)}`;
  const [end] = yield* sql.all<ActivityRow>(
    asking(
      raw<ActivityRow>`select ${at} as at, ${seq} as seq from ${tableOf(source)} where ${older} ${newestFirst(source)} limit 1 offset ${LOOKED_AT[kind] - 1}`,
    ),
  );
  return end ? { at: end.at, rank, seq: end.seq } : null;
}

function* walk(
  sql: Sql,
  { source, rank, terms, from, limit }: Asked,
  horizon: Position | null,
): Steps<Walk<readonly ActivityEntry[]>> {
  const { at, seq, columns } = source;
  const older = raw<boolean>`(${at}, ${seq}) < ${placeOf(from, rank)}`;
  const within = horizon ? [raw<boolean>`(${at}, ${seq}) >= ${placeOf(horizon, rank)}`] : [];
  const fits = raw.join([older, ...within, ...terms], raw` and `);
  const rows = yield* sql.all<ActivityRow>(
    asking(
      raw<ActivityRow>`select ${at} as at, ${seq} as seq, ${columns} from ${source.from} where ${fits} ${newestFirst(source)} limit ${limit + 1}`,
    ),
  );
  const values = rows.slice(0, limit).map((row) => ({ at: row.at, rank, seq: row.seq, value: source.entriesOf(row) }));
  const last = rows.length > limit ? values.at(-1) : undefined;
  return { rows: values, reached: last ? { at: last.at, rank, seq: last.seq } : horizon };
}

function placeOf(position: Position, rank: number): RawBuilder<unknown> {
  const { at, seq } = before(position, rank);
  return raw`(${at}, ${seq})`;
}

function newestFirst({ at, seq }: Source): RawBuilder<unknown> {
  return raw`order by ${at} desc, ${seq} desc`;
}

function asking(query: RawBuilder<ActivityRow>): (db: Builder) => Compilable<ActivityRow> {
  return (db) => ({ compile: () => query.compile(db) });
}

/** Without what is only read for its columns: counting rows does not need it. */
function tableOf({ kind }: Source): RawBuilder<unknown> {
  const tables = { turn: "turns", model: "turns", tool: "tool_calls", job: "job_runs", delivery: "outbox" } as const;
  return raw.table(tables[kind]);
}

function positionOf(cursor: string | undefined): Position {
  if (cursor === undefined) return { at: NEWEST, rank: SOURCES.length, seq: NEWEST };
  const [at, rank, seq] = decodeCursor(cursor, ["number", "number", "number"]).map(Number);
  return { at: at ?? 0, rank: rank ?? 0, seq: seq ?? 0 };
}
