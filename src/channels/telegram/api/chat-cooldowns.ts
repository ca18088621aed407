/** Which chats Telegram wants to be left alone, and until when. One limit for everything that is shown there: messages, edits, previews. */
import type { Clock } from "../../../kit/clock.ts";
import { Fault } from "./faults.ts";

export interface ChatCooldowns {
  /** 0: go on. */
  leftMs(chat: string): number;
  /** Remembers a limit if this is one. Gives the error back. */
  note(chat: string, error: unknown): unknown;
}

const MAX_CHATS = 10_000;

export function createChatCooldowns({ clock }: { readonly clock: Clock }): ChatCooldowns {
  const until = new Map<string, number>();
  const leftMs = (chat: string): number => {
    const left = (until.get(chat) ?? 0) - clock.now();
    if (left <= 0) until.delete(chat);
    return Math.max(0, left);
  };
  /** Forgets what is over, and where that is not enough the pause that was asked for first: Telegram says it again. */
  const makeRoom = (): void => {
    if (until.size < MAX_CHATS) return;
    for (const known of [...until.keys()]) leftMs(known);
    const [first] = until.keys();
    if (until.size >= MAX_CHATS && first !== undefined) until.delete(first);
  };
  return {
    leftMs,
    note(chat, error) {
      if (!(error instanceof Fault) || error.info.kind !== "limited") return error;
      until.delete(chat); // with a new pause it is the newest one
      makeRoom();
      until.set(chat, clock.now() + error.info.retryAfterMs);
      return error;
    },
  };
}
