/** One timeline over several tables. Each is walked by its index of time, and no page looks at more rows than a reader would wait for. */
import { type RawBuilder, sql as raw } from "kysely";
import type { ActivityEntry, ActivityFilter, ActivityStore } from "../../contracts/store/activity.ts";
import type { Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { decodeCursor, encodeCursor, NEWEST, pageSize } from "../rows/paging.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import { before, mergeWalks, type Position, type Walk } from "./merge.ts";
import { type ActivityRow, type Source, SOURCES } from "./sources.ts";

/** Rows of one table that a page looks at: a few milliseconds. */
const LOOKED_AT = 2_000;

export function createActivity({ sql, read, mask }: Pick<RowDeps, "sql" | "read" | "mask">): ActivityStore {
  const shown = (entry: ActivityEntry): ActivityEntry => ({
    ...entry,
    name: mask(entry.name),
    note: mask(entry.note),
  });
  return {
    list: (filter, page) =>
      read(function* () {
        const limit = pageSize(page);
        const from = positionOf(page.cursor);
        const walks: Walk<readonly ActivityEntry[]>[] = [];
        for (const [rank, source] of SOURCES.entries())
          if (filter.kind === undefined || filter.kind === source.kind)
            walks.push(yield* walk(sql, { source, rank, filter, from, limit }));
        const { values, next, isShort } = mergeWalks(walks, limit);
        const items = values
          .flat()
          .filter(({ outcome }) => filter.outcome === undefined || outcome === filter.outcome)
          .map(shown)
          .toSorted((one, other) => other.at - one.at);
        if (next === null) return { items };
        const cursor = encodeCursor([next.at, next.rank, next.seq]);
        return { items, next: cursor, ...(isShort ? { searchedTo: next.at } : {}) };
      }),
  };
}

interface Asked {
  readonly source: Source;
  readonly rank: number;
  readonly filter: ActivityFilter;
  readonly from: Position;
  readonly limit: number;
}

function* walk(sql: Sql, { source, rank, filter, from, limit }: Asked): Steps<Walk<readonly ActivityEntry[]>> {
  const { at, seq, columns } = source;
  const start = before(from, rank);
  const older = raw<boolean>`(${at}, ${seq}) < (${start.at}, ${start.seq})`;
  const newestFirst = raw`order by ${at} desc, ${seq} desc`;
  const terms = source.terms(filter);
  const ask = <R>(query: RawBuilder<R>) => sql.all<R>((db) => ({ compile: () => query.compile(db) }));
  const [end] =
    terms.length === 0
      ? []
      : yield* ask(
          raw<ActivityRow>`select ${at} as at, ${seq} as seq from ${tableOf(source)} where ${older} ${newestFirst} limit 1 offset ${LOOKED_AT - 1}`,
        );
  const within = end ? [raw<boolean>`(${at}, ${seq}) >= (${end.at}, ${end.seq})`] : [];
  const fits = raw.join([older, ...within, ...terms], raw` and `);
  const rows = yield* ask(
    raw<ActivityRow>`select ${at} as at, ${seq} as seq, ${columns} from ${source.from} where ${fits} ${newestFirst} limit ${limit + 1}`,
  );
  const values = rows.slice(0, limit).map((row) => ({ at: row.at, rank, seq: row.seq, value: source.entriesOf(row) }));
  const last = rows.length > limit ? values.at(-1) : end && { ...end, rank };
  return { rows: values, reached: last ? { at: last.at, rank, seq: last.seq } : null };
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
