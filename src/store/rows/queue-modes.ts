/** The queue mode that people have chosen for a session. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { QueueMode } from "../../contracts/queue.ts";
import type { QueueModeStore } from "../../contracts/store/queue-modes.ts";
import type { Params } from "../sql.ts";
import type { RowDeps } from "./row-deps.ts";

export function createQueueModes({ sql, write }: RowDeps): QueueModeStore {
  const change = sql.prepare((db, p: Params<{ key: SessionKey; mode: QueueMode | null }>) =>
    db
      .updateTable("sessions")
      .set({ queue_mode: p("mode") })
      .where("key", "=", p("key")),
  );
  return { set: (key, mode) => write(() => change.run({ key, mode }) > 0) };
}
