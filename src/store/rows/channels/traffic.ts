/** What passed last over an account of a channel: the newest message of a person, and the newest reply that was sent. Only reads. */
import { sql as raw } from "kysely";
import type { MessageStore } from "../../../contracts/store/messages.ts";
import type { Params } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";

/** As its index has it, word for word. */
const ACCOUNT = raw<string>`(channel || '/' || account)`;

export function createChannelTraffic({ sql, read }: Pick<RowDeps, "sql" | "read">): MessageStore["traffic"] {
  const received = sql.prepare((db, p: Params<{ at: string }>) =>
    db
      .selectFrom("inbox")
      .select(["received_at", "sender", "sender_name"])
      .where(ACCOUNT, "=", p("at"))
      .orderBy("seq", "desc")
      .limit(1),
  );
  const sent = sql.prepare((db, p: Params<{ at: string }>) =>
    db
      .selectFrom("outbox")
      .select("ended_at")
      .where(ACCOUNT, "=", p("at"))
      .where("state", "=", raw.lit("sent"))
      .orderBy("seq", "desc")
      .limit(1),
  );
  return (channel, account) =>
    read(function* () {
      const at = `${channel}/${account}`;
      const message = yield* received.first({ at });
      return {
        lastReceived: message && { at: message.received_at, from: message.sender_name || message.sender },
        lastSent: (yield* sent.first({ at }))?.ended_at ?? null,
      };
    });
}
