/** What a person can do to a single message: change one that still waits, and react to a reply. */
import { whyNot } from "../net/error-text.ts";
import { request } from "./console-state.ts";

/** Null: it was changed. Otherwise why not, in words. */
export function changeMessage(id: string, text: string): Promise<string | null> {
  return whyNot(request("chat.edit", { id, text }));
}

export function react(id: string, emoji: string | null): void {
  request("chat.react", { id, emoji }).catch(() => undefined); // the reaction simply stays as it was
}
