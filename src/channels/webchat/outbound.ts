/** A stored reply part → the line every open page and waiting program sees. Clients drop an id they have seen, so a repeat is harmless. */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";

export function toTranscriptItem(part: OutboxRow): TranscriptItem {
  const { kind, text, attachments = [], replyTo, format } = part.message;
  return {
    id: part.id,
    role: "assistant",
    kind,
    text,
    at: part.createdAt,
    turnId: part.turnId,
    ...(kind === "notice" ? { outcome: part.outcome } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(part.part < 0 ? { extra: true } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(part.editedAt === undefined ? {} : { editedAt: part.editedAt }),
    ...(part.deleted ? { deleted: true } : {}),
    ...(part.reaction === undefined ? {} : { reaction: part.reaction }),
    ...(format === undefined ? {} : { format }),
    ...(part.ownReactions === undefined ? {} : { ownReactions: part.ownReactions }),
    ...(part.pinned ? { pinned: true } : {}),
  };
}
