/** Puts messages into the full-text index that were stored since it was filled, oldest first and some at a time. Changed and deleted messages are the affair of triggers. */
import { sql as raw } from "kysely";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";

/** Messages of each kind in one transaction: a few milliseconds. */
const AT_ONCE = 100;

const SOURCES = [
  { table: "inbox", mark: "indexed_inbox", parity: 0 },
  { table: "outbox", mark: "indexed_outbox", parity: 1 },
] as const;
type Source = (typeof SOURCES)[number];

interface IndexFill {
  /** Whether messages are not in the index yet. */
  isBehind(): Steps<boolean>;
  /** True: there is more to do. Inside of somebody's transaction. */
  fillSome(): Steps<boolean>;
}

export function createIndexFill(sql: Sql): IndexFill {
  const sources = SOURCES.map((source) => queriesOf(sql, source));
  return {
    *isBehind() {
      for (const { next } of sources) if (yield* next.first({})) return true;
      return false;
    },
    *fillSome() {
      let isMore = false;
      for (const { next, last, fill, setMark } of sources) {
        const from = (yield* next.first({}))?.seq;
        if (from === undefined) continue;
        const to = (yield* last.first({ from }))?.seq ?? from;
        yield* fill.run({ from, to });
        yield* setMark.run({ to });
        isMore ||= (yield* next.first({})) !== null;
      }
      return isMore;
    },
  };
}

function queriesOf(sql: Sql, { table, mark, parity }: Source) {
  const shown = table === "outbox" ? raw<boolean>`deleted_at is null` : raw<boolean>`true`;
  const number = raw`seq * 2 + ${raw.lit(parity)}`;
  return {
    next: sql.prepare((db, _p: Params<object>) =>
      db
        .selectFrom(table)
        .select("seq")
        .where("seq", ">", (eb) => eb.selectFrom("meta").select("value").where("key", "=", raw.lit(mark)))
        .orderBy("seq")
        .limit(raw.lit(1)),
    ),
    /** Of those that fit into one transaction. */
    last: sql.prepare((db, p: Params<{ from: number }>) =>
      db
        .selectFrom((eb) =>
          eb
            .selectFrom(table)
            .select("seq")
            .where("seq", ">=", p("from"))
            .orderBy("seq")
            .limit(raw.lit(AT_ONCE))
            .as("some"),
        )
        .select((eb) => eb.fn.max("some.seq").as("seq")),
    ),
    // what was changed, or is filled again after a repair, may have come first
    fill: sql.prepare((db, p: Params<{ from: number; to: number }>) => ({
      compile: () =>
        raw`insert into message_index (rowid, text) select ${number}, text from ${raw.table(table)}
          where seq between ${p("from")} and ${p("to")} and text <> '' and ${shown}
            and not exists (select 1 from message_index_docsize where id = ${number})`.compile(db),
    })),
    setMark: sql.prepare((db, p: Params<{ to: number }>) =>
      db
        .updateTable("meta")
        .set({ value: p("to") })
        .where("key", "=", raw.lit(mark)),
    ),
  };
}
