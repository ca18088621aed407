/** Counts the starts of this state directory, and remembers whether the last process closed its store in order. */
import type { Params, Sql } from "./sql.ts";
import type { Steps } from "./steps.ts";

export function createStarts(sql: Sql) {
  const epochNow = sql.prepare((db) => db.selectFrom("meta").select("value").where("key", "=", "epoch"));
  const nextEpoch = sql.prepare((db) =>
    db
      .updateTable("meta")
      .set((eb) => ({ value: eb("value", "+", 1) }))
      .where("key", "=", "epoch"),
  );
  const setClean = sql.prepare((db, p: Params<{ value: number }>) =>
    db
      .updateTable("meta")
      .set({ value: p("value") })
      .where("key", "=", "clean"),
  );
  const countAttempt = sql.prepare((db) =>
    db
      .insertInto("meta")
      .values({ key: "write_attempts", value: 1 })
      .onConflict((oc) => oc.column("key").doUpdateSet((eb) => ({ value: eb("meta.value", "+", 1) }))),
  );
  return {
    /** Returns the epoch. Runs in one transaction with whatever ends, or takes over, what the process before left. */
    *begin(): Steps<number> {
      yield* nextEpoch.run({});
      yield* setClean.run({ value: 0 });
      return (yield* epochNow.first({}))?.value ?? 1;
    },
    *end(): Steps<void> {
      yield* setClean.run({ value: 1 });
    },
    /** A write that means nothing. Another value each time, because SQLite does not write a row that stays the same. */
    *touch(): Steps<void> {
      yield* countAttempt.run({});
    },
  };
}
