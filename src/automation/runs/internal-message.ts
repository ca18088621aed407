/** A message that nobody wrote: jobs, heartbeats, webhooks, wakes and reactions put their work into the inbox as one. */
import type { InternalMessage } from "../../contracts/automation/internal-message.ts";

type Message = InternalMessage["message"];
type Fields = Pick<Message, "eventId" | "address" | "scope" | "sender" | "text" | "receivedAt" | "origin">;

/** Below what people write. */
export const INTERNAL_PRIORITY = 3;

/** `eventId` is the same whenever the same work is put in again, so that it is there once. */
export function internalMessage(fields: Fields): Message {
  return { fingerprint: fields.eventId, quoted: [], attachments: [], mentioned: true, ...fields };
}
