/** Whether a session has something to be told besides its messages: asked when a turn begins, in the transaction that begins it. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

/** System events that no turn has shown, and reactions that no turn was told of. */
export function createSessionNews(sql: Sql): (key: SessionKey) => Steps<boolean> {
  const news = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db
      .selectFrom("system_events")
      .select("session_key")
      .where("session_key", "=", p("key"))
      .where("shown", "=", raw.lit(0))
      .unionAll(
        db
          .selectFrom("reactions")
          .select("session_key")
          .where("session_key", "=", p("key"))
          .where("turn_id", "is", null),
      )
      .limit(1),
  );
  return function* (key) {
    return (yield* news.first({ key })) !== null;
  };
}
