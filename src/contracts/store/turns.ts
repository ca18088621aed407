/** Turns, from their beginning to the reply that ends them. */
import type { ChatAddress, MediaRef, ToolStatus, TurnOutcome, Usage } from "../chat.ts";
import type { SessionSettings } from "../session-settings.ts";
import type { Listed, Page } from "../paging.ts";
import type { ReplyPart, StoredPart } from "../delivery.ts";
import type { AgentId, InboxId, SessionKey, TurnId } from "../ids.ts";
import type { Span } from "../queue.ts";
import type { SessionReach } from "../session-reach.ts";
import type { TurnCost } from "./activity.ts";
import type { FileChange } from "./session-files.ts";
import type { Spent } from "./usage.ts";

export interface TurnStore {
  /** Makes the turn row and claims its messages; or, when the turn exists (a retry), counts one more attempt and claims what joined it since. */
  begin(turn: {
    readonly turnId: TurnId;
    readonly sessionKey: SessionKey;
    readonly agentId: AgentId;
    readonly inboxIds: readonly InboxId[];
    /** Claims the overflow of this chat as well, counted ones included, up to and including this one. */
    readonly overflow?: { readonly through: InboxId; readonly chat: ChatAddress };
    readonly at: number;
  }): Promise<BegunTurn>;
  /** What the next turn of this session begins with; null: there is no such session. */
  upcoming(sessionKey: SessionKey): Promise<UpcomingTurn | null>;
  /** The gateway stops in good order while the turn runs: the next start does not count it as a crash. */
  leave(turnId: TurnId, attempt: number): Promise<void>;
  /**
   * To be called once at a start: turns that were at work when the last process died count one crash more. The last one, `accusedAt`, is
   * counted only against a turn that was alone. One that has so many and was not at work this time is cleared: the gateway went down
   * without it. `among`: turns of a gateway that died, when this one goes on; its own are left out.
   */
  countCrashes(accusedAt: number, among?: readonly TurnId[]): Promise<void>;
  /** Claims messages for a turn that runs. False when `attempt` is not the current one, or the turn has ended: nothing was written. */
  join(more: {
    readonly turnId: TurnId;
    readonly attempt: number;
    readonly inboxIds: readonly InboxId[];
  }): Promise<boolean>;
  /**
   * Ends waiting messages without a turn of their own having run: one is made that is over already, beside whatever runs in the session.
   * False when one of them is not free: nothing was written.
   */
  endUnbegun(end: UnbegunEnd): Promise<boolean>;
  /**
   * Ends the turn, finishes its messages, writes its reply parts to the outbox and adds up the session, all in one transaction.
   * Returns those parts. Null when `attempt` is not the current one or the turn has ended already: another worker was faster, nothing was written.
   */
  finish(end: TurnFinish): Promise<readonly StoredPart[] | null>;
  /** How the turn of an accepted message ended; null while it has not. For callers that wait, or come back later. */
  resultOf(inboxId: InboxId): Promise<TurnResult | null>;
  /** Newest first, running ones included unless an outcome is asked for. */
  list(
    filter: {
      readonly sessionKey?: SessionKey;
      readonly outcome?: TurnResult["outcome"];
      readonly within?: SessionReach | null;
    },
    page: Page,
  ): Promise<Listed<TurnTrace>>;
  get(turnId: TurnId): Promise<TurnDetails | null>;
  /** Of those that have ended; a turn that is not there is left out. */
  costsOf(turnIds: readonly TurnId[]): Promise<Readonly<Record<string, TurnCost>>>;
}

export interface UpcomingTurn {
  readonly sessionFile: { readonly name: string; readonly settledBytes: number };
  readonly settings: SessionSettings;
}

export interface BegunTurn extends UpcomingTurn {
  readonly attempt: number;
  readonly unsafeToRetry: boolean;
  /** System events or reactions wait in its session, or an earlier attempt was told of some. What comes later is for a later turn. */
  readonly hasNews: boolean;
}

export interface TurnFinish {
  readonly turnId: TurnId;
  readonly attempt: number;
  readonly outcome: TurnOutcome;
  readonly reply: readonly ReplyPart[];
  readonly to: ChatAddress;
  /** Messages that joined the turn while it ran; those not claimed yet are claimed here. */
  readonly joined?: readonly InboxId[];
  readonly usage: Usage;
  /** Its row in the usage ledger; absent: nothing is to be written there. */
  readonly spent?: Spent;
  readonly model: string;
  readonly settledBytes: number;
  /** What the turn made of the session file, up to its settled bytes. Absent: nothing is stored of it. */
  readonly fileChange?: FileChange;
  /** What the model thought before it answered. */
  readonly reasoning?: string;
  readonly error?: { readonly code: string; readonly detail: string };
  readonly spans?: readonly Span[];
  readonly at: number;
}

export interface UnbegunEnd {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly inboxIds: readonly InboxId[];
  /** As in `begin`. */
  readonly overflow?: { readonly through: InboxId; readonly chat: ChatAddress };
  readonly outcome: Exclude<TurnOutcome, "done">;
  readonly reply: readonly ReplyPart[];
  readonly to: ChatAddress;
  readonly error?: { readonly code: string; readonly detail: string };
  readonly at: number;
}

/** A turn as the console and the API show it. */
export interface TurnDetails extends TurnTrace {
  readonly toolCalls: readonly TurnToolCall[];
  /** What the model thought before it answered; absent: nothing, or it did not say. */
  readonly reasoning?: string;
}

export interface TurnTrace {
  readonly turn: TurnFacts;
  /** In the order in which they began. The last is `delivery`, once every part of the reply has been sent. */
  readonly spans: readonly Span[];
  readonly deliveredAt: number | null;
}

interface TurnFacts {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly outcome: TurnResult["outcome"] | null; // null: it has not ended
  readonly attempt: number;
  readonly model: string | null;
  readonly errorCode: string | null;
  readonly usage: Usage;
  /** Of its first message. */
  readonly acceptedAt: number;
  readonly begunAt: number;
  readonly endedAt: number | null;
}

export interface TurnResult {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly outcome: TurnOutcome;
  readonly content: string; // all reply parts, joined by an empty line
  readonly attachments?: readonly MediaRef[]; // absent: none
  readonly errorCode: string | null;
  readonly toolCalls: readonly (TurnToolCall & { readonly callId: string })[];
  readonly usage: Usage;
}

export interface TurnToolCall {
  readonly tool: string;
  readonly input: unknown;
  readonly status: ToolStatus;
  readonly ms: number;
}
