/** Tools that are switched on for a session: a few rows for each, read when a process takes the session up. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../contracts/ids.ts";
import type { SessionToolStore } from "../../contracts/store/session-tools.ts";
import type { Params } from "../sql.ts";
import type { RowDeps } from "./row-deps.ts";

/** Rows in one transaction: a few milliseconds. */
const MAX_AT_ONCE = 2_000;

export interface SessionToolTable {
  session_key: SessionKey;
  tool: string;
  position: number;
  at: number;
}

export function createSessionTools({ sql, read, write }: Pick<RowDeps, "sql" | "read" | "write">): SessionToolStore {
  const bySession = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.selectFrom("session_tools").select(["tool", "position", "at"]).where("session_key", "=", p("key")),
  );
  const put = sql.prepare((db, p: Params<SessionToolTable>) =>
    db
      .insertInto("session_tools")
      .values(p.row("session_key", "tool", "position", "at"))
      .onConflict((conflict) =>
        conflict.columns(["session_key", "tool"]).doUpdateSet((eb) => ({
          position: eb.ref("excluded.position"),
          at: eb.ref("excluded.at"),
        })),
      ),
  );
  const drop = sql.prepare((db, p: Params<{ key: SessionKey; tool: string }>) =>
    db.deleteFrom("session_tools").where("session_key", "=", p("key")).where("tool", "=", p("tool")),
  );
  const dropOld = sql.prepare((db, p: Params<{ before: number }>) =>
    db
      .deleteFrom("session_tools")
      .where(
        raw<boolean>`(session_key, tool) in (select session_key, tool from session_tools where at < ${p("before")} limit ${raw.lit(MAX_AT_ONCE)})`,
      ),
  );
  return {
    list: (key) =>
      read(function* () {
        return (yield* bySession.all({ key })).toSorted((a, b) => a.position - b.position);
      }),
    async save(key, { on, off }) {
      await write(function* () {
        for (const { tool, position, at } of on) yield* put.run({ session_key: key, tool, position, at });
        for (const tool of off) yield* drop.run({ key, tool });
      });
    },
    prune: (before) => write(() => dropOld.run({ before })),
  };
}
