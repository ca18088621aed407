/** What is written down about the preview of a turn, so that its reply, or its removal, finds the message after a restart. */
import type { ChatAddress } from "../../contracts/chat.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { AccountState } from "./account-state.ts";

export interface PreviewNote {
  readonly to: ChatAddress;
  /** What the platform called the chat when the preview was sent. */
  readonly where: string;
  /** Null: it may be shown, and nobody knows which message it is. */
  readonly message: string | null;
  /** When it was sent first. */
  readonly begunAt: number;
  /** Its reply was on the way into it, and may stand there although nobody heard so: it is no preview any more. */
  readonly taken: boolean;
}

const PREFIX = "preview:";
const keyOf = (turnId: TurnId): string => PREFIX + turnId;

export async function readNote(facts: AccountState, turnId: TurnId): Promise<PreviewNote | null> {
  const stored = await facts.get(keyOf(turnId));
  if (stored === null) return null;
  try {
    return JSON.parse(stored) as PreviewNote; // written below
  } catch {
    await forgetNote(facts, turnId); // of a version that wrote something else
    return null;
  }
}

/** Durable when it resolves. */
export function writeNote(facts: AccountState, turnId: TurnId, note: PreviewNote): Promise<void> {
  return facts.put(keyOf(turnId), JSON.stringify(note));
}

export function forgetNote(facts: AccountState, turnId: TurnId): Promise<void> {
  return facts.forget(keyOf(turnId));
}

/** Turns whose previews are noted. */
export async function notedTurns(facts: AccountState): Promise<readonly TurnId[]> {
  return (await facts.list(PREFIX)).map(({ key }) => key.slice(PREFIX.length) as TurnId);
}
