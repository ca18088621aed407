/** What is being written, one draft for each conversation; this tab keeps them across a reload. */
import { effect, signal, untracked } from "@preact/signals";
import { chat, openKey } from "../../state/console-state.ts";
import { keep, kept } from "../../state/kept.ts";
import { clearImages } from "./attachments.tsx";
import { focusComposer } from "./composer-focus.ts";

const DRAFT_PREFIX = "pi-gateway.draft.";

export const draft = signal("");

export function keepDrafts(): void {
  let key = "";
  effect(() => {
    const open = openKey.value;
    if (open === key) return;
    key = open;
    draft.value = kept(DRAFT_PREFIX + key) ?? "";
    untracked(clearImages);
  });
}

/** Puts words into the composer, before what is being written there. */
export function editDraft(text: string): void {
  const now = draft.value.trim();
  write(now ? `${text}\n\n${now}` : text);
  focusComposer();
}

export function write(text: string): void {
  draft.value = text;
  keep(DRAFT_PREFIX + chat.value.key, text);
}
