/** Deletes media that came long ago. Leaves what a message that waits, a reply that is not delivered, or a pinned session shows. */
import { sql as raw } from "kysely";
import type { MediaId } from "../../../contracts/ids.ts";
import type { DroppedRows, OldRows } from "../../../contracts/store/retention.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import { decodeAttachments } from "../codec.ts";
import { createMediaDrop } from "./media-drop.ts";
import { type Place, placeAfter, START } from "./row-place.ts";

export function createOldMedia(sql: Sql) {
  const { old, attached } = finding(sql);
  const drop = createMediaDrop(sql);

  function* neededMedia(): Steps<ReadonlySet<MediaId>> {
    const needed = new Set<MediaId>();
    for (const query of attached)
      for (const { attachments } of yield* query.all({}))
        for (const { mediaId } of decodeAttachments(attachments) ?? []) needed.add(mediaId);
    return needed;
  }

  return function* ({ before, from, limit }: OldRows): Steps<DroppedRows> {
    const found = yield* old.all({ ...(from ?? START), before, limit });
    const needed = found.length === 0 ? new Set<MediaId>() : yield* neededMedia();
    let dropped = 0;
    for (const { id } of found) {
      if (needed.has(id)) continue;
      yield* drop(id);
      dropped++;
    }
    return { dropped, next: placeAfter(found, limit, ({ at, id }) => ({ at, id })) };
  };
}

function finding(sql: Sql) {
  const ofPinned = (table: "inbox" | "outbox") =>
    sql.prepare((db, _p: Params<object>) =>
      db
        .selectFrom(table)
        .select("attachments")
        .where("attachments", "<>", raw.lit("[]"))
        .where(raw<boolean>`session_key in (select key from sessions where pinned_at is not null)`),
    );
  return {
    old: sql.prepare((db, p: Params<Place>) =>
      db
        .selectFrom("media")
        .select(["id", "at"])
        .where(raw<boolean>`(at, id) > (${p("at")}, ${p("id")})`)
        .where("at", "<", p("before"))
        .orderBy("at")
        .orderBy("id")
        .limit(p("limit")),
    ),
    attached: [
      ofPinned("inbox"),
      ofPinned("outbox"),
      sql.prepare((db, _p: Params<object>) =>
        db
          .selectFrom("inbox")
          .select("attachments")
          .where("done", "=", raw.lit(0))
          .where("attachments", "<>", raw.lit("[]")),
      ),
      sql.prepare((db, _p: Params<object>) =>
        db
          .selectFrom("outbox")
          .select("attachments")
          .where("ended_at", "is", null)
          .where("attachments", "<>", raw.lit("[]")),
      ),
    ],
  };
}
