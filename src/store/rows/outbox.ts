/** Reply parts between the end of their turn and their channel. They are never deleted: the transcript reads them. */
import type { OutboxStore } from "../../contracts/store.ts";
import type { Params } from "../sql.ts";
import { sql as raw } from "kysely";
import { fromAddressColumns } from "./codec.ts";
import type { RowDeps } from "./row-deps.ts";

export function createOutbox({ sql, read, write }: RowDeps): OutboxStore {
  const pending = sql.prepare((db, p: Params<{ limit: number }>) =>
    db.selectFrom("outbox").selectAll().where("state", "=", raw.lit("pending")).orderBy("seq").limit(p("limit")),
  );
  const sent = sql.prepare((db, p: Params<{ id: string; at: number }>) =>
    db
      .updateTable("outbox")
      .set({ state: "sent", ended_at: p("at") })
      .where("id", "=", p("id"))
      .where("state", "=", "pending"),
  );
  const dead = sql.prepare((db, p: Params<{ id: string; because: string; at: number }>) =>
    db
      .updateTable("outbox")
      .set({ state: "dead", because: p("because"), ended_at: p("at") })
      .where("id", "=", p("id"))
      .where("state", "=", "pending"),
  );

  return {
    pending: (limit) =>
      read(() =>
        pending.all({ limit }).map((row) => ({
          id: row.id,
          turnId: row.turn_id,
          sessionKey: row.session_key,
          part: row.part,
          message: { text: row.text, kind: row.kind },
          to: fromAddressColumns(row),
          createdAt: row.created_at,
        })),
      ),
    markSent: (ids, at) =>
      write(() => {
        for (const id of ids) sent.run({ id, at });
      }, "with the next"), // lost in a power cut, the part is sent again under its old id
    markDead: (id, because, at) => write(() => void dead.run({ id, because, at })),
  };
}
