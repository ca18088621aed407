/** A key by which a repeat is recognised: a turn that a crash interrupted runs again under its old id and saves the same notes and tasks. */
import type { AskedBy } from "../../../contracts/store/notes.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { sql as raw } from "kysely";

/** Inside a running turn the same content is the same request; outside of one, only the same call is. */
export function createOnce(sql: Sql): (askedBy: AskedBy, content: readonly unknown[]) => Steps<string> {
  const running = sql.prepare((db, p: Params<{ id: TurnId }>) =>
    db.selectFrom("turns").select("id").where("id", "=", p("id")).where("state", "=", raw.lit("running")),
  );
  return function* ({ turnId, callId }, content) {
    const scope = (yield* running.first({ id: turnId })) ? [turnId] : [turnId, callId];
    return new Bun.CryptoHasher("sha256").update(JSON.stringify([scope, content])).digest("hex");
  };
}
