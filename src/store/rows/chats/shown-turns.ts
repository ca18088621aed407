/** Which turns a session shows: its own that were not asked anew, and before them those of the session that it branched off. */
import { sql as raw } from "kysely";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { SessionBranchTable, TurnTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";

type ShownTurn = Pick<TurnTable, "id" | "state"> & { readonly seq: number; readonly reasoned: number };
type Origin = Pick<SessionBranchTable, "from_key" | "up_to" | "at">;

interface ShownTurns {
  /** The newest one with a smaller number. */
  before(key: SessionKey, seq: number): Steps<ShownTurn | null>;
  /** The sessions that this one has turns of, nearest first. */
  origins(key: SessionKey): Steps<readonly Origin[]>;
  isShown(key: SessionKey, turnId: TurnId): Steps<boolean>;
}

const REASONED = raw<number>`case when reasoning is null then 0 else 1 end`.as("reasoned");

/**
 * Numbers of turns grow over all sessions, so every turn of a branch has a larger one than those it has from elsewhere. A turn that was
 * superseded in the other session after the branch was made is still part of the branch.
 */
export function createShownTurns(sql: Sql): ShownTurns {
  const ownBefore = sql.prepare((db, p: Params<{ key: SessionKey; before: number }>) =>
    db
      .selectFrom("turns")
      .select(["seq", "id", "state"])
      .select(REASONED)
      .where("session_key", "=", p("key"))
      .where("seq", "<", p("before"))
      .where("superseded_at", "is", null)
      .orderBy("seq", "desc")
      .limit(1),
  );
  const branchedBefore = sql.prepare((db, p: Params<{ key: SessionKey; before: number; at: number }>) =>
    db
      .selectFrom("turns")
      .select(["seq", "id", "state"])
      .select(REASONED)
      .where("session_key", "=", p("key"))
      .where("seq", "<", p("before"))
      .where((eb) => eb.or([eb("superseded_at", "is", null), eb("superseded_at", ">", p("at"))]))
      .orderBy("seq", "desc")
      .limit(1),
  );
  const origins = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.selectFrom("session_branches").select(["from_key", "up_to", "at"]).where("session_key", "=", p("key")),
  );
  /** A session rarely has more than two, so they are sorted here. */
  function* originsOf(key: SessionKey): Steps<readonly Origin[]> {
    return (yield* origins.all({ key })).toSorted((one, other) => other.up_to - one.up_to);
  }
  const turn = sql.prepare((db, p: Params<{ id: TurnId }>) =>
    db.selectFrom("turns").select(["seq", "session_key", "superseded_at"]).where("id", "=", p("id")),
  );
  const shown: ShownTurns = {
    *before(key, seq) {
      const own = yield* ownBefore.first({ key, before: seq });
      if (own) return own;
      for (const { from_key, up_to, at } of yield* originsOf(key)) {
        const found = yield* branchedBefore.first({ key: from_key, before: Math.min(seq, up_to + 1), at });
        if (found) return found;
      }
      return null;
    },
    origins: originsOf,
    *isShown(key, turnId) {
      const found = yield* turn.first({ id: turnId });
      if (!found) return false;
      if (found.session_key === key) return found.superseded_at === null;
      const origin = (yield* origins.all({ key })).find(({ from_key }) => from_key === found.session_key);
      if (!origin || found.seq > origin.up_to) return false;
      return found.superseded_at === null || found.superseded_at > origin.at;
    },
  };
  return shown;
}
