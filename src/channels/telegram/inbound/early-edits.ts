/**
 * Edits that came before their message, which happens when Telegram calls a webhook for both at once. An edit alone is no message; the
 * message gets its words when it arrives. Kept in memory for a minute: nothing is lost with them but the change.
 */
import type { Clock } from "../../../kit/clock.ts";
import { remember } from "../../kit/index.ts";
import type { Arrived } from "./arrived.ts";

interface EarlyEdits {
  note(edit: Arrived): void;
  /** The message as its newest early edit says it. */
  apply(message: Arrived): Arrived;
}

const KEPT_MS = 60_000;
const MAX_KEPT = 100;

export function createEarlyEdits(clock: Pick<Clock, "elapsed">): EarlyEdits {
  const kept = new Map<string, { readonly edit: Arrived; readonly at: number }>();
  return {
    note(edit) {
      if (edit.edits !== null) remember(kept, edit.edits, { edit, at: clock.elapsed() }, MAX_KEPT);
    },
    apply(message) {
      const found = message.kind === "message" ? kept.get(message.eventId) : undefined;
      if (!found) return message;
      kept.delete(message.eventId);
      const { edit, at } = found;
      const isTheirs = edit.sender.principal === message.sender.principal;
      if (!isTheirs || message.album !== null || clock.elapsed() - at > KEPT_MS) return message;
      const { text, quoted, files } = edit;
      const answering = message.answering ? { ...message.answering, text } : null;
      return { ...message, text, quoted, files, answering, mentioned: message.mentioned || edit.mentioned };
    },
  };
}
