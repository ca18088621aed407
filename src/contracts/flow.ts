/** What the rest of the house may ask about turns in progress. */
import type { ToolStatus, TranscriptItem } from "./chat.ts";
import type { InboxId, Principal, SessionKey, TurnId } from "./ids.ts";
import type { Preparation } from "./agent.ts";
import type { Cancelled, Rewritten } from "./queue.ts";
import type { RouteFacts } from "./routing.ts";

export interface LiveTurns {
  /** What a client that arrives in the middle of a turn has to be shown; null when the session is quiet. */
  snapshot(sessionKey: SessionKey): LiveTurn | null;
  /** Stops the running turn; false when none runs. */
  abort(sessionKey: SessionKey): Promise<boolean>;
}

/** What can still be done about a message that waits. */
export interface WaitingMessages {
  /** Only for the one who sent it. Rejects when its end could not be stored; then it waits as before. */
  cancel(id: InboxId, by: Principal): Promise<Cancelled>;
  /** Other words instead. Only for the one who sent it, and as long as it waits. */
  rewrite(id: InboxId, by: Principal, text: string): Promise<Rewritten>;
}

/** Prepares a process for somebody who may write soon: they open a conversation, or type in it. */
export interface SessionPreparer {
  /** Decided like a message with these facts. A hint: no turn begins, nothing is stored, nobody is told. Resolves when it is decided; never rejects. */
  prepare(facts: RouteFacts, signal: AbortSignal): Promise<PreparedSession>;
}

export type PreparedSession = Pick<Preparation, "prepares" | "because">;

/** Deletes what was said in a session, everywhere the gateway keeps it. */
export interface SessionRemover {
  /**
   * Withdraws what waits, stops the running turn, then deletes rows and files. Throws `not_found`, and `conflict` when something goes on in it all the
   * time. Tool calls and the rest of the audit log stay, and so does what was spent.
   */
  remove(key: SessionKey, by: Principal, signal: AbortSignal): Promise<DeletedSession>;
}

/** Goes on from an earlier point of a session. */
export interface SessionBrancher {
  /**
   * Goes back to before the turn of this message, reply or tool call. What came after is shown no more; it stays in the audit log and in what
   * was spent, and what tools did is not undone. Throws `not_found`, and `conflict` while something goes on.
   */
  rewind(key: SessionKey, id: string, signal: AbortSignal): Promise<{ readonly said: readonly TranscriptItem[] }>;
  /** A new session that begins with this one up to the turn of a message, its reply included. Throws as `rewind`. */
  branch(key: SessionKey, request: BranchRequest, signal: AbortSignal): Promise<SessionBranch>;
}

export interface BranchRequest {
  /** Left out: the newest. */
  readonly message?: string | undefined;
  readonly to: { readonly sessionKey: SessionKey; readonly channel: string };
  readonly by: Principal;
}

export interface SessionBranch {
  readonly sessionKey: SessionKey;
  readonly title: string;
}

export interface DeletedSession {
  readonly messages: number;
  readonly media: number;
}

export interface LiveTurn {
  readonly turnId: TurnId;
  readonly inboxIds: readonly InboxId[];
  readonly startedAt: number;
  readonly text: string;
  /** What the model has thought so far; absent: nothing. */
  readonly reasoning?: string;
  readonly tools: readonly LiveTool[];
  /** It waits for something outside and says nothing meanwhile. */
  readonly waiting?: LiveWait;
}

export interface LiveWait {
  /** When it goes on. */
  readonly until: number;
  /** What it waits for, as a sentence for people. */
  readonly text: string;
}

export interface LiveTool {
  readonly callId: string;
  readonly tool: string;
  readonly status: ToolStatus;
  readonly input?: unknown;
  /** Newest line of what it says while it runs. */
  readonly progress?: string;
  readonly output?: string;
  readonly ms?: number;
}
