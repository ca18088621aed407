/** What made a message begin ↔ its two columns: the check of the first is older than reactions that begin a turn. Pure. */
import type { MessageOrigin } from "../../contracts/chat.ts";
import type { InboxTable } from "../schema.ts";

export interface OriginColumns {
  readonly origin: Exclude<MessageOrigin, "reaction">;
  readonly begun_by: InboxTable["begun_by"];
}

export function toOriginColumns(origin: MessageOrigin = "chat"): OriginColumns {
  return origin === "reaction" ? { origin: "chat", begun_by: origin } : { origin, begun_by: null };
}

export function originOf({ origin, begun_by: begunBy }: OriginColumns): MessageOrigin {
  return begunBy ?? origin;
}
