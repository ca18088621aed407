/** Which files belong to a conversation, read from its messages and from the record of its tool calls. Writes nothing. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../contracts/ids.ts";
import type { ConversationFileStore } from "../../contracts/store/conversation-files.ts";
import { decodeAttachments } from "../rows/codec.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { Params } from "../sql.ts";

/** File systems stamp a file with the time of the last clock tick, which may lie a little before the call. */
const CLOCK_TICK_MS = 50;

export function createConversationFiles({ sql, read }: Pick<RowDeps, "sql" | "read">): ConversationFileStore {
  const attached = sql.prepare((db, p: Params<{ sessionKey: SessionKey; mediaId: string }>) =>
    db
      .selectFrom("turns")
      .innerJoin("inbox", "inbox.turn_id", "turns.id")
      .select("inbox.attachments")
      .where("turns.session_key", "=", p("sessionKey"))
      .where(raw<boolean>`inbox.attachments like '%' || ${p("mediaId")} || '%'`),
  );
  // pi's tools that only look make no file, and neither does a call that was refused; one that a crash ended has no known end.
  const running = sql.prepare((db, p: Params<{ sessionKey: SessionKey; from: number; to: number }>) =>
    db
      .selectFrom("tool_calls")
      .select("id")
      .where("session_key", "=", p("sessionKey"))
      .where("at", "<=", p("to"))
      .where(raw<boolean>`tool not in ('read', 'ls', 'find', 'grep')`)
      .where(raw<boolean>`(status = 'running' or (status in ('success', 'error') and at + ms >= ${p("from")}))`)
      .limit(1),
  );
  return {
    isReceived: (sessionKey, mediaId) =>
      read(function* () {
        return (yield* attached.all({ sessionKey, mediaId })).some(({ attachments }) =>
          decodeAttachments(attachments)?.some((file) => file.mediaId === mediaId),
        );
      }),
    ranToolAt: (sessionKey, at) =>
      read(function* () {
        return (yield* running.first({ sessionKey, from: Math.floor(at), to: Math.ceil(at) + CLOCK_TICK_MS })) !== null;
      }),
  };
}
