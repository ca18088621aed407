/** Deletes turns that ended long ago, with their messages and replies. Leaves those that something still refers to. */
import { sql as raw } from "kysely";
import type { MediaId, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { DroppedRows, OldRows } from "../../../contracts/store/retention.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { decodeAttachments } from "../codec.ts";
import { createMediaDrop } from "./media-drop.ts";
import { type Place, placeAfter, START } from "./row-place.ts";

type Turn = { readonly turnId: TurnId };

export interface OldTurns {
  drop(rule: OldRows): Steps<DroppedRows>;
  /** The oldest turns of one session, with their media; how many are gone. */
  dropOf(sessionKey: SessionKey, limit: number): Steps<number>;
}

/** An answer that is not finished, and a call that waits for an owner, need their turn. */
const NEEDED = (turnId: TurnId) => raw<boolean>`
  exists (select 1 from inbox where inbox.turn_id = ${turnId} and inbox.done = 0)
  or exists (select 1 from outbox where outbox.turn_id = ${turnId} and outbox.ended_at is null)
  or exists (select 1 from tool_calls where tool_calls.turn_id = ${turnId} and tool_calls.status in ('running', 'pending'))
  or exists (select 1 from approvals where approvals.decision is null and approvals.turn_id = ${turnId})`;

export function createOldTurns(sql: Sql): OldTurns {
  const { old, ofSession, needed } = finding(sql);
  const drops = dropping(sql);
  const attached = attachments(sql);
  const dropMedia = createMediaDrop(sql);

  function* mediaOf(turnId: TurnId): Steps<readonly MediaId[]> {
    const ids: MediaId[] = [];
    for (const query of attached)
      for (const row of yield* query.all({ turnId }))
        for (const { mediaId } of decodeAttachments(row.attachments) ?? []) ids.push(mediaId);
    return ids;
  }

  function* dropOne(turnId: TurnId): Steps<void> {
    for (const drop of drops) yield* drop.run({ turnId });
  }

  return {
    *drop({ before, from, limit }) {
      const turns = yield* old.all({ ...(from ?? START), before, limit });
      let dropped = 0;
      for (const { id: turnId, pinned_at } of turns) {
        if (pinned_at !== null || (yield* needed.first({ turnId }))) continue;
        yield* dropOne(turnId);
        dropped++;
      }
      return { dropped, next: placeAfter(turns, limit, ({ ended_at, id }) => ({ at: ended_at ?? 0, id })) };
    },
    *dropOf(sessionKey, limit) {
      const turns = yield* ofSession.all({ sessionKey, limit });
      for (const { id } of turns) {
        for (const mediaId of yield* mediaOf(id)) yield* dropMedia(mediaId);
        yield* dropOne(id);
      }
      return turns.length;
    },
  };
}

function finding(sql: Sql) {
  return {
    old: sql.prepare((db, p: Params<Place>) =>
      db
        .selectFrom("turns")
        .innerJoin("sessions", "sessions.key", "turns.session_key")
        .select(["turns.id", "turns.ended_at", "sessions.pinned_at"])
        .where("turns.ended_at", "is not", null)
        .where(raw<boolean>`(turns.ended_at, turns.id) > (${p("at")}, ${p("id")})`)
        .where("turns.ended_at", "<", p("before"))
        .orderBy("turns.ended_at")
        .orderBy("turns.id")
        .limit(p("limit")),
    ),
    ofSession: sql.prepare((db, p: Params<{ sessionKey: SessionKey; limit: number }>) =>
      db.selectFrom("turns").select("id").where("session_key", "=", p("sessionKey")).orderBy("seq").limit(p("limit")),
    ),
    needed: sql.prepare((db, p: Params<Turn>) =>
      db
        .selectFrom("turns")
        .select("id")
        .where("id", "=", p("turnId"))
        .where(NEEDED(p("turnId"))),
    ),
  };
}

function attachments(sql: Sql) {
  return (["inbox", "outbox"] as const).map((table) =>
    sql.prepare((db, p: Params<Turn>) =>
      db
        .selectFrom(table)
        .select("attachments")
        .where("turn_id", "=", p("turnId"))
        .where("attachments", "<>", raw.lit("[]")),
    ),
  );
}

/** Rows that refer to others go before them. */
function dropping(sql: Sql) {
  const ofMessages = (refers: "platform_messages" | "reactions", table: "inbox" | "outbox") =>
    sql.prepare((db, p: Params<Turn>) =>
      db
        .deleteFrom(refers)
        .where(raw<boolean>`message_id in (select id from ${raw.table(table)} where turn_id = ${p("turnId")})`),
    );
  return [
    ofMessages("platform_messages", "inbox"),
    ofMessages("platform_messages", "outbox"),
    ofMessages("reactions", "inbox"),
    ofMessages("reactions", "outbox"),
    sql.prepare((db, p: Params<Turn>) => db.deleteFrom("outbox").where("turn_id", "=", p("turnId"))),
    sql.prepare((db, p: Params<Turn>) => db.deleteFrom("inbox").where("turn_id", "=", p("turnId"))),
    sql.prepare((db, p: Params<Turn>) => db.deleteFrom("turns").where("id", "=", p("turnId"))),
  ];
}
