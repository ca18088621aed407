/** What a person can do to a single message: change one that still waits, and react to a reply. */
import { request } from "./console-state.ts";

/** Null: it was changed. Otherwise why not, in words. */
export async function changeMessage(id: string, text: string): Promise<string | null> {
  return request("chat.edit", { id, text }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : "It could not be changed."),
  );
}

export function react(id: string, emoji: string | null): void {
  request("chat.react", { id, emoji }).catch(() => undefined); // the reaction simply stays as it was
}
