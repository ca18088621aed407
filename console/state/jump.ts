/** A message to be shown in its conversation: found by a search, perhaps far back. */
import { signal } from "@preact/signals";
import { openSession } from "./console-state.ts";

/** Null: none. It is cleared when the message is shown, or cannot be. */
export const jumpTo = signal<{ readonly session: string; readonly id: string } | null>(null);

export function showMessage(session: string, id: string): void {
  jumpTo.value = { session, id };
  openSession(session);
}
