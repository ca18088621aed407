/** Reactions and pins of a message, as every list of messages shows them. */
import type { ExpressionBuilder } from "kysely";
import type { TranscriptItem } from "../../../contracts/chat.ts";
import type { Dialect } from "../../dialect.ts";
import type { InboxTable, Tables } from "../../schema.ts";
import { decodeJson } from "../codec.ts";

/** The reactions of people to a row of the outbox, as one text; null: none. */
export function reactionsTo(
  { inOneText }: Dialect,
  eb: ExpressionBuilder<Tables, "outbox"> | ExpressionBuilder<Tables, "outbox" | "turns">,
) {
  return (eb as ExpressionBuilder<Tables, "outbox">)
    .selectFrom("reactions")
    .select(inOneText("reactions.emoji", "reactions.principal").as("emoji"))
    .whereRef("reactions.message_id", "=", "outbox.id");
}

export function marksOf({
  own_reactions: reactions,
  pinned_at: pinnedAt,
}: Pick<InboxTable, "own_reactions" | "pinned_at">): Pick<TranscriptItem, "ownReactions" | "pinned"> {
  const ownReactions = readReactions(reactions);
  return {
    ...(ownReactions.length > 0 ? { ownReactions } : {}),
    ...(pinnedAt === null ? {} : { pinned: true }),
  };
}

/** Damaged: none. */
export function readReactions(column: string | null): readonly string[] {
  const value = column === null ? [] : decodeJson(column);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
