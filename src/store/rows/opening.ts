/** The title that a stored message gives to the conversation it opened. */
import type { InboxTable } from "../schema.ts";
import { decodeAttachments } from "./codec.ts";
import { titleOf } from "./one-line.ts";
import { decodeQuoted } from "./quoted.ts";

export function storedTitle({
  text,
  quoted,
  attachments,
}: Pick<InboxTable, "text" | "quoted" | "attachments">): string {
  return titleOf({ text, quoted: decodeQuoted(quoted), attachments: decodeAttachments(attachments) ?? [] });
}
