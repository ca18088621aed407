/** What the rest of the house may ask about turns in progress. */
import type { ToolStatus } from "./chat.ts";
import type { InboxId, SessionKey, TurnId } from "./ids.ts";

export interface LiveTurns {
  /** What a client that arrives in the middle of a turn has to be shown; null when the session is quiet. */
  snapshot(sessionKey: SessionKey): LiveTurn | null;
  /** Stops the running turn; false when none runs. */
  abort(sessionKey: SessionKey): boolean;
}

export interface LiveTurn {
  readonly turnId: TurnId;
  readonly inboxIds: readonly InboxId[];
  readonly startedAt: number;
  readonly text: string;
  readonly tools: readonly LiveTool[];
}

export interface LiveTool {
  readonly callId: string;
  readonly tool: string;
  readonly status: ToolStatus;
  readonly input?: unknown;
  readonly output?: string;
  readonly ms?: number;
}
