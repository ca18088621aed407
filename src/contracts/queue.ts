/** Durable lanes: one per session, one turn per lane at a time, highest priority first, oldest first among equals. What was accepted is never dropped. */
import type { InboundMessage, TurnOutcome, Usage } from "./chat.ts";
import type { QueueMode, SessionSettings } from "./session-settings.ts";
import type { ReplyPart, StoredPart } from "./delivery.ts";
import type { AgentId, InboxId, Principal, Role, SessionKey, TurnId } from "./ids.ts";
import type { FileChange } from "./store/session-files.ts";
import type { TakenMessage } from "./store/nodes.ts";
import type { Spent } from "./store/usage.ts";

export interface Queue {
  /** Reads what previous processes left behind. Call once, before anything else. */
  recover(): Promise<{ readonly waiting: number; readonly interrupted: number }>;
  /**
   * Takes up messages of gateways that are gone, which this one has taken over while it works. Until they are there, nothing of their sessions
   * begins. Null: the signal came first. Never rejects.
   */
  adopt(
    taken: readonly TakenMessage[],
    signal: AbortSignal,
  ): Promise<{ readonly waiting: number; readonly interrupted: number } | null>;
  /** Stored with fsync when it resolves; only then may the platform be told "received". Refuses instead of evicting. `id`: one that it has already. */
  accept(entry: QueueEntry, id?: InboxId): Promise<Accepted>;
  /**
   * Waits for the next lane that has work for an agent and no running turn. Rejects with `signal.reason`. `room`: how many turns the caller
   * could begin by now, this one included; 1 if left out. `isOpen`: an idle process has this session open, so that its turn needs no switch;
   * it goes before others of its priority that have not waited for long.
   */
  take(signal: AbortSignal, room?: number, isOpen?: (sessionKey: SessionKey) => boolean): Promise<Batch>;
  /** The same for lanes whose next work needs no agent, so that it waits for none: a command, or what waited too long. */
  takeCommand(signal: AbortSignal): Promise<Batch>;
  /**
   * Takes a waiting message back for the one who sent it, and ends it visibly with `end`. Rejects when that could not be stored: then it
   * waits as before.
   */
  cancel(id: InboxId, by: Principal, end: UnbegunReply): Promise<Cancelled>;
  /** Other words for a waiting message, from the one who sent it. Rejects when that could not be stored: then it waits as before. */
  rewrite(id: InboxId, by: Principal, text: string): Promise<Rewritten>;
  /** Chooses how this session goes on, from now on and over restarts; null: as its channel, and the gateway, say. */
  choose(sessionKey: SessionKey, mode: QueueMode | null): Promise<void>;
  /** Stops the running turn of a lane; false when none runs, or a command that will be done at once. */
  abort(sessionKey: SessionKey): Promise<boolean>;
  /** Sessions that wait for their turn, and could wait elsewhere; those whose turn comes last are first. */
  movable(): readonly { readonly sessionKey: SessionKey; readonly waiting: number }[];
  /**
   * Nothing of the session begins while `give` runs, and nothing may be accepted for it. True: everything that waited is another gateway's now.
   * False: it goes on here, because `give` said so or because something of it has begun.
   */
  handOver(sessionKey: SessionKey, give: () => Promise<boolean>): Promise<boolean>;
  stats(): { readonly waiting: number; readonly running: number };
  /** Something runs or waits in this lane. */
  isBusy(sessionKey: SessionKey): boolean;
  /** What waits in one lane, and how it goes on for messages of this channel. */
  session(sessionKey: SessionKey, channel: string): QueuedSession;
}

export interface QueuedSession {
  readonly waiting: number;
  readonly mode: QueueMode;
  /** The mode was chosen for this session. Known only while something waits or runs in it. */
  readonly chosen: boolean;
}

/** What a chat is told about a message that no turn will answer. */
export interface UnbegunReply {
  readonly outcome: "failed" | "aborted";
  readonly reply: readonly ReplyPart[];
  readonly error?: { readonly code: string; readonly detail: string };
}

/** `not_waiting`: its turn has begun, or is over. `unknown`: there is no such message of this sender. */
export type Cancelled =
  | { readonly kind: "cancelled"; readonly turnId: TurnId; readonly sessionKey: SessionKey }
  | { readonly kind: "not_waiting" | "unknown" };

/** `command`: what it was, or would be, is not for an agent. */
export type Rewritten =
  | {
      readonly kind: "rewritten";
      readonly sessionKey: SessionKey;
      readonly message: InboundMessage;
      readonly at: number;
    }
  | { readonly kind: "not_waiting" | "unknown" | "command" };

/**
 * `talk` is for an agent. A `command` is never joined with anything; `stop` also ends the running turn, and is next. An `errand` is a command
 * that needs an agent: it is alone like one, and taken and stopped like talk.
 */
export type WorkKind = "talk" | "command" | "stop" | "errand";

export interface QueueEntry {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number; // dm 10, group 5, webhook 3
  readonly message: InboundMessage;
  /** When there is no room: `refuse` it, or, for a channel that cannot, `keep` it and show it shortened in a later turn. Default: refuse. */
  readonly whenFull?: "refuse" | "keep";
}

export type Accepted =
  | { readonly kind: "queued"; readonly id: InboxId; readonly position: number }
  | { readonly kind: "duplicate"; readonly id: InboxId; readonly fingerprint: string }
  | { readonly kind: "full"; readonly because: "session" | "gateway"; readonly retryAfterMs: number };

/** The work of one turn. The lane stays closed until the batch is finished or given back. */
export interface Batch {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  /** Never empty. Grows when something joins. */
  readonly entries: readonly BatchEntry[];
  /** Overflow that belongs to the turn and is only counted. */
  readonly hidden: number;
  /** It waited too long: end the turn with a notice that says so. */
  readonly expired: boolean;
  /** 1 for the first try. A higher number means an earlier try left something behind in the session file. */
  readonly attempt: number;
  /** How often an agent failed at it since the gateway was started. */
  readonly failures: number;
  /** The gateway went down whenever it ran, the last time alone: end it with a notice that says so. */
  readonly accused: boolean;
  /** A tool that must not run twice had started in an earlier try: end the turn visibly instead of trying again. */
  readonly unsafeToRetry: boolean;
  /** Where the agent keeps this conversation, and how much of that file belongs to finished turns. */
  readonly sessionFile: { readonly name: string; readonly settledBytes: number };
  /** What was chosen for this session. */
  readonly settings?: SessionSettings;
  /** System events or reactions waited in its session when it began. Without them nobody has to look. */
  readonly hasNews: boolean;
  /** Aborts with a `StopCause` as its reason. */
  readonly cancelled: AbortSignal;
  readonly acceptedAt: number;
  /**
   * What is to be steered into the turn while it runs, oldest first. Waits for it; nothing when the signal aborts. It keeps waiting in its lane
   * until it is joined, so that it is the next turn's when this one does not take it.
   */
  offered(signal: AbortSignal): Promise<readonly BatchEntry[]>;
  /** The agent has taken these in: they are retried, ended and answered with this turn. What could not be stored now is stored with its end. */
  join(entries: readonly BatchEntry[]): Promise<void>;
  /** The agent takes nothing more in: what was offered is the next turn's. */
  decline(): void;
  /** Ends the turn and stores its reply parts in one transaction. Null: the turn was taken over; drop the reply. */
  finish(end: TurnEnd): Promise<FinishedTurn | null>;
  /** Puts the turn back at the head of its lane for another attempt. */
  retry(because: string): Promise<void>;
  /** Leaves the turn as it is in the store, to be recovered by the next start. */
  abandon(): Promise<void>;
}

export interface FinishedTurn {
  /** All parts of its reply; left out: they have to be read. */
  readonly stored?: readonly StoredPart[];
}

export interface BatchEntry {
  readonly id: InboxId;
  readonly message: InboundMessage;
  /** It came when there was no room: its text is shortened by so much, its attachments are left out, a command is not carried out. */
  readonly overflow?: { readonly cutChars: number; readonly attachments: number; readonly isCommand: boolean };
}

export interface TurnEnd {
  readonly outcome: TurnOutcome;
  readonly reply: readonly ReplyPart[];
  readonly usage: Usage;
  /** What of it is to be written into the usage ledger with the end. */
  readonly spent?: Spent;
  readonly model: string;
  /** Size of the session file when the agent had settled; a later retry cuts the file back to this. */
  readonly settledBytes: number;
  /** What the turn made of that file; absent: session files stay on this machine, or it was not changed. */
  readonly fileChange?: FileChange;
  /** What the model thought before it answered. */
  readonly reasoning?: string;
  readonly error?: { readonly code: string; readonly detail: string };
  /** Where the time went; stored with the end. Left out, the turn has no waterfall. */
  readonly spans?: readonly Span[];
}

/** One measured stretch of a turn: `queued`, `lease`, `first_token`, `tool:<name>`, `delegate:<agent>`, `generate`. Stretches may overlap. */
export interface Span {
  readonly name: string;
  /** Counted from the acceptance of the turn's first message. */
  readonly startMs: number;
  readonly ms: number;
  /** What came of it, in a few words: of a model call, its outcome and its tokens. */
  readonly note?: string;
  /** The stretches of a delegated turn, or the wait for the first word of a model call, on the same scale. */
  readonly children?: readonly Span[];
}

/** Who wanted the turn to end: a person who pressed stop, or a newer message in a session that interrupts. */
export type StopCause = "stopped" | "interrupted";
