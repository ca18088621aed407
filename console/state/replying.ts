/** The message that the one being written replies to. It belongs to one conversation and is gone when that is left. */
import { computed, signal } from "@preact/signals";
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import { chat, openKey } from "./console-state.ts";

const chosen = signal<{ readonly session: string; readonly id: string } | null>(null);

/** Null: it replies to none, or the message is there no more. */
export const replyingTo = computed<TranscriptItem | null>(() => {
  const { session, id } = chosen.value ?? { session: "", id: "" };
  if (session !== openKey.value) return null;
  return chat.value.items.find((item) => item.id === id && !item.deleted) ?? null;
});

export function replyTo(item: Pick<TranscriptItem, "id">): void {
  chosen.value = { session: openKey.value, id: item.id };
}

export function replyToNone(): void {
  chosen.value = null;
}

export function shortText({ text, attachments = [] }: Pick<TranscriptItem, "text" | "attachments">): string {
  return text || attachments[0]?.name || "an earlier message";
}
