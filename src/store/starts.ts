/** Counts the starts of this state directory, and remembers whether the last process closed its store in order. */
import type { Params, Sql } from "./sql.ts";

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
    /** Returns the epoch. `recover` ends or takes over what the process before left, in the same transaction. */
    begin(recover: () => void): number {
      sql.control("begin immediate");
      nextEpoch.run({});
      setClean.run({ value: 0 });
      recover();
      sql.control("commit");
      return epochNow.first({})?.value ?? 1;
    },
    end(): void {
      setClean.run({ value: 1 });
    },
    /** A write that means nothing. Another value each time, because SQLite does not write a row that stays the same. */
    touch(): void {
      countAttempt.run({});
    },
  };
}
