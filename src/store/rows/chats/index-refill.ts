/** Fills the full-text index of messages again, newest first and some at a time, after it was made anew. Messages that came since are put in by `index-fill.ts`. */
import { sql as raw } from "kysely";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";

/** Messages in one transaction: some ten milliseconds. */
const AT_ONCE = 300;

const SOURCES = [
  { table: "inbox", mark: "index_inbox", parity: 0 },
  { table: "outbox", mark: "index_outbox", parity: 1 },
] as const;
type Mark = (typeof SOURCES)[number]["mark"];

interface Range {
  readonly from: number;
  readonly to: number;
}

/** True: there is more to do. Inside of somebody's transaction. */
export function createIndexRefill(sql: Sql): () => Steps<boolean> {
  const refilledTo = sql.prepare((db, p: Params<{ mark: Mark }>) =>
    db.selectFrom("meta").select("value").where("key", "=", p("mark")),
  );
  const setRefilledTo = sql.prepare((db, p: Params<{ mark: Mark; value: number }>) =>
    db
      .updateTable("meta")
      .set({ value: p("value") })
      .where("key", "=", p("mark")),
  );
  const done = sql.prepare((db, p: Params<{ mark: Mark }>) => db.deleteFrom("meta").where("key", "=", p("mark")));
  const sources = SOURCES.map((source) => ({ mark: source.mark, ...filling(sql, source) }));

  return function* () {
    for (const { mark, firstOf, fill } of sources) {
      const to = (yield* refilledTo.first({ mark }))?.value;
      if (to === undefined) continue;
      const from = (yield* firstOf.first({ to, offset: AT_ONCE - 1 }))?.seq ?? 0;
      yield* fill.run({ from, to });
      if (from === 0) yield* done.run({ mark });
      else yield* setRefilledTo.run({ mark, value: from - 1 });
      return true;
    }
    return false;
  };
}

function filling(sql: Sql, { table, parity }: (typeof SOURCES)[number]) {
  const shown = table === "outbox" ? raw<boolean>`deleted_at is null` : raw<boolean>`true`;
  return {
    firstOf: sql.prepare((db, p: Params<{ to: number; offset: number }>) =>
      db
        .selectFrom(table)
        .select("seq")
        .where("seq", "<=", p("to"))
        .orderBy("seq", "desc")
        .limit(1)
        .offset(p("offset")),
    ),
    fill: sql.prepare((db, p: Params<Range>) => ({
      compile: () =>
        raw`insert into message_index (rowid, text)
          select seq * 2 + ${raw.lit(parity)}, text from ${raw.table(table)}
          where seq between ${p("from")} and ${p("to")} and text <> '' and ${shown}
            and not exists (select 1 from message_index_docsize where id = seq * 2 + ${raw.lit(parity)})`.compile(db),
    })),
  };
}
