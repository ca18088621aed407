/** What passed last over a channel: the newest message of a person, and the newest reply that was sent. Only reads. */
import type { MessageStore } from "../../../contracts/store/messages.ts";
import type { Builder } from "../../sql.ts";
import type { RowDeps } from "../row-deps.ts";

export function createChannelTraffic({ sql, read }: Pick<RowDeps, "sql" | "read">): MessageStore["traffic"] {
  return (channel, account) =>
    read(function* () {
      const [received] = yield* sql.all((db) => newestMessage(db, channel, account));
      const [sent] = yield* sql.all((db) => newestReply(db, channel, account));
      return {
        lastReceived: received ? { at: received.received_at, from: received.sender_name || received.sender } : null,
        lastSent: sent?.ended_at ?? null,
      };
    });
}

/** Without an account: of the one that the channel has. */
function newestMessage(db: Builder, channel: string, account: string | undefined) {
  const query = db
    .selectFrom("inbox")
    .select(["received_at", "sender", "sender_name"])
    .where("channel", "=", channel)
    .limit(1);
  const ofAccount = account === undefined ? query.orderBy("account", "desc") : query.where("account", "=", account);
  return ofAccount.orderBy("seq", "desc");
}

function newestReply(db: Builder, channel: string, account: string | undefined) {
  const query = db
    .selectFrom("outbox")
    .select("ended_at")
    .where("channel", "=", channel)
    .where("state", "=", "sent")
    .limit(1);
  const ofAccount = account === undefined ? query.orderBy("account", "desc") : query.where("account", "=", account);
  return ofAccount.orderBy("seq", "desc");
}
