/**
 * Small doors over one database; SQLite by default. Every method is async and is one transaction: no transaction object leaves the
 * store, so none can be held open across a wait. A write has reached the file when its method resolves, so the death of the process
 * loses nothing; writes that others rely on (accept, finish, an intent that must not be repeated) are fsynced as well, and those asked
 * for in the same tick share one fsync. Disk full or broken: the method rejects with GatewayError `store_failed` and nothing is half done.
 * After an I/O error every write is rejected until a new process has opened the database (`health.failed`).
 */
import type {
  ChatAddress,
  InboundMessage,
  MediaRef,
  SessionSummary,
  ToolStatus,
  TranscriptItem,
  TurnOutcome,
  Usage,
} from "./chat.ts";
import type { QueueMode, SessionSettings } from "./session-settings.ts";
import type { Listed, Page } from "./paging.ts";
import type { JobStore } from "./automation/job.ts";
import type { SystemEventStore } from "./automation/system-event.ts";
import type { PairingStore } from "./channels/pairing.ts";
import type { ChannelState } from "./channels/platform.ts";
import type {
  OutboxRow,
  PartEnd,
  PendingPart,
  ReplyPart,
  StoredPart,
  TroubledPart,
  TroubledState,
} from "./delivery.ts";
import type { AgentId, InboxId, InstanceId, MediaId, Principal, Role, SessionKey, TurnId } from "./ids.ts";
import type { Span } from "./queue.ts";
import type { SessionReach } from "./session-reach.ts";
import type { ApprovalStore } from "./store/approvals.ts";
import type { ConversationFileStore } from "./store/conversation-files.ts";
import type { SignInStore } from "./store/sign-ins.ts";
import type { ConversationStore } from "./store/conversations.ts";
import type { StoreHealth } from "./store/health.ts";
import type { ActivityStore, TurnCost } from "./store/activity.ts";
import type { ApiKeyStore } from "./store/api-keys.ts";
import type { WebhookMarkStore } from "./store/webhook-marks.ts";
import type { RoleGrantStore } from "./store/role-grants.ts";
import type { MessageStore, ReactionStore } from "./store/messages.ts";
import type { NodeLeaseStore } from "./store/node-leases.ts";
import type { NodeStore } from "./store/nodes.ts";
import type { NoteStore } from "./store/notes.ts";
import type { SessionChatStore } from "./store/session-chats.ts";
import type { SessionCare, SessionFilter } from "./store/session-care.ts";
import type { FileChange, SessionFileStore } from "./store/session-files.ts";
import type { SessionToolStore } from "./store/session-tools.ts";
import type { PostStore } from "./store/posts.ts";
import type { RetentionStore } from "./store/retention.ts";
import type { ResponseStore } from "./store/responses.ts";
import type { RunSessionStore } from "./store/run-sessions.ts";
import type { TranscriptionStore } from "./store/transcriptions.ts";
import type { TaskStore } from "./store/tasks.ts";
import type { AuditTrail, ToolCallStore } from "./store/tool-calls.ts";
import type { Spent, UsageStore } from "./store/usage.ts";

export type { ToolCallStore } from "./store/tool-calls.ts";

export interface Store extends AsyncDisposable {
  readonly inbox: InboxStore;
  readonly turns: TurnStore;
  readonly outbox: OutboxStore;
  readonly messages: MessageStore;
  readonly sessions: SessionStore;
  readonly toolCalls: ToolCallStore;
  readonly audit: AuditTrail;
  readonly activity: ActivityStore;
  readonly media: MediaStore;
  readonly sessionFiles: SessionFileStore;
  readonly conversationFiles: ConversationFileStore;
  readonly signIns: SignInStore;
  readonly jobs: JobStore;
  readonly systemEvents: SystemEventStore;
  readonly webhookMarks: WebhookMarkStore;
  readonly sessionChats: SessionChatStore;
  readonly runSessions: RunSessionStore;
  readonly conversations: ConversationStore;
  readonly roleGrants: RoleGrantStore;
  readonly notes: NoteStore;
  readonly tasks: TaskStore;
  readonly pairings: PairingStore;
  readonly channelState: ChannelState;
  readonly transcriptions: TranscriptionStore;
  readonly approvals: ApprovalStore;
  readonly usage: UsageStore;
  readonly apiKeys: ApiKeyStore;
  readonly sessionTools: SessionToolStore;
  readonly responses: ResponseStore;
  readonly retention: RetentionStore;
  readonly nodes: NodeStore;
  readonly nodeLeases: NodeLeaseStore;
  readonly health: StoreHealth;
  /** How many times this state directory was opened: 1 for the first start, then 2, … */
  readonly epoch: number;
  /** The gateway that opened it: the owner of its claims. */
  readonly instanceId: InstanceId;
}

// ── inbox ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface InboxStore {
  /** Creates the session row on its first message and touches it otherwise, and begins its turn if that is asked for: in the same transaction. */
  accept(
    row: NewInboxRow,
  ): Promise<StoredRow | { readonly kind: "duplicate"; readonly id: InboxId; readonly fingerprint: string }>;
  /** Everything accepted whose turn has not ended, oldest first; `turn` is set when a previous process had begun it. */
  unfinished(): Promise<readonly UnfinishedRow[]>;
  /** Replaces the text of a message that no turn has claimed; fsynced. False: a turn has, or there is no such message. */
  rewrite(id: InboxId, text: string, at: number): Promise<boolean>;
  /** The fingerprint of the message with this event id, or of its newest edit (`<event id>#…`); null: it was never stored. */
  newestVersion(of: {
    readonly channel: string;
    readonly account: string;
    readonly eventId: string;
  }): Promise<string | null>;
  /** Null: there is no such message. */
  senderOf(id: InboxId): Promise<Principal | null>;
}

interface StoredRow {
  readonly kind: "stored";
  /** Of the session; null: none was chosen. */
  readonly mode: QueueMode | null;
  /** The overflow that is only counted from now on, because this row is one too many. */
  readonly hidden: InboxId | null;
  /** The turn that began with it; null: none was to, or another one runs in the session. */
  readonly begun: BegunTurn | null;
}

export interface NewInboxRow {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly message: InboundMessage;
  /** Its session was full. `maxShown`: of one chat, that many are to be shown; the oldest above it is only counted. */
  readonly overflow?: { readonly maxShown: number };
  /** Its turn begins with it, unless another one runs in its session. */
  readonly begins?: { readonly turnId: TurnId; readonly at: number };
}

export interface UnfinishedRow {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly message: InboundMessage;
  readonly turn: {
    readonly turnId: TurnId;
    readonly attempt: number;
    readonly unsafeToRetry: boolean;
    readonly crashes: number;
  } | null;
  readonly mode: QueueMode | null;
  /** Of overflow only what is shown is listed; the first of a chat (and turn) says how many more there are. */
  readonly overflow: { readonly hidden: number } | null;
}

// ── turns ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  /** The gateway stops in good order while the turn runs: the next start does not count it as a crash. */
  leave(turnId: TurnId, attempt: number): Promise<void>;
  /**
   * To be called once at a start: turns that were at work when the last process died count one crash more. The last one, `accusedAt`, is
   * counted only against a turn that was alone. One that has so many and was not at work this time is cleared: the gateway went down
   * without it.
   */
  countCrashes(accusedAt: number): Promise<void>;
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
  get(turnId: TurnId): Promise<(TurnTrace & { readonly toolCalls: readonly TurnToolCall[] }) | null>;
  /** Of those that have ended; a turn that is not there is left out. */
  costsOf(turnIds: readonly TurnId[]): Promise<Readonly<Record<string, TurnCost>>>;
}

export interface BegunTurn {
  readonly attempt: number;
  readonly unsafeToRetry: boolean;
  readonly sessionFile: { readonly name: string; readonly settledBytes: number };
  readonly settings: SessionSettings;
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

// ── outbox ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * A part belongs to the gateway that stored it, until that one hands it to another, or is taken over from. Its owner sends it, under a claim
 * that holds until its time, or until the part is left to wait. Whoever lost a claim cannot record anything about the part any more.
 */
export interface OutboxStore extends PostStore, ReactionStore {
  /** What is this gateway's and has not ended, oldest first; parts of one turn in order. `after`: only what was stored after this `seq`. */
  pending(limit: number, after?: number): Promise<readonly PendingPart[]>;
  part(id: string): Promise<OutboxRow | null>;
  /**
   * Gives parts of this gateway that it does not send just now to another one: `pending` of that one has them, with what is known about them.
   * Returns those that it has: not what has ended or is not this gateway's, and nothing when the other one is gone.
   */
  handTo(node: InstanceId, ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Claims the part before a send that must not be repeated blindly; fsynced. False: the part has ended, or another gateway has claimed it.
   * A send that may be repeated needs no claim.
   */
  markSending(
    id: string,
    now: Pick<PendingPart, "attempts" | "lost" | "delivered" | "doubt"> & {
      readonly at: number;
      readonly claimedUntil: number;
    },
  ): Promise<boolean>;
  /** After a send that did not work; gives the claim back; fsynced. False: another gateway has claimed the part, nothing was written. */
  markWaiting(
    id: string,
    now: Pick<PendingPart, "attempts" | "lost" | "delivered" | "doubt" | "firstTriedAt" | "nextTryAt"> & {
      readonly because: string;
    },
  ): Promise<boolean>;
  /** Not fsynced by itself: for parts that may be sent again. False: as in `markWaiting`. */
  markSent(id: string, at: number): Promise<boolean>;
  /** Will not be tried again; fsynced. A part that has ended already stays as it is. False: as in `markWaiting`. */
  settle(id: string, end: PartEnd, at: number): Promise<boolean>;
  /**
   * Puts a notice about this part behind everything else of its chat, once for each turn; fsynced. Nothing is added while a notice of
   * this text waits there already. False: the part answers no message of that chat, or it is a notice itself.
   */
  noteInChat(id: string, text: string, at: number): Promise<boolean>;
  /** Latest end first. */
  list(state: TroubledState, page: Page): Promise<Listed<TroubledPart>>;
  /** When parts ended in `state` after `since`, latest first. */
  endsSince(state: TroubledState, since: number, limit: number): Promise<readonly number[]>;
}

// ── sessions ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SessionStore extends SessionCare {
  get(key: SessionKey): Promise<SessionSummary | null>;
  /** Most recent activity first. Sessions of runs only when `channel` or `search` asks for them. */
  list(filter: SessionFilter, page: Page): Promise<Listed<SessionSummary>>;
  /** Newest page first; inside a page oldest first. `next` leads to older items. */
  transcript(key: SessionKey, page: Page): Promise<Listed<TranscriptItem>>;
  /**
   * The next turn starts with an empty memory in a new session file; what was said stays readable, and the conversation that ended can be
   * resumed. `byTurn`: the command that asks; asked again by the same one, it has nothing left to do. False: no such session.
   */
  reset(key: SessionKey, at: number, byTurn?: TurnId): Promise<boolean>;
  /** Holds from the next turn on. What is left out stays as it is. False: no such session. */
  configure(key: SessionKey, settings: Partial<SessionSettings>): Promise<boolean>;
  /** Sets its title; null: the title follows from its first message again. False: no such session. */
  rename(key: SessionKey, name: string | null): Promise<boolean>;
  /** How it wants to be queued; null: as its channel, and the gateway, say. False: no such session. Read with the summary and by `inbox.accept`. */
  setQueueMode(key: SessionKey, mode: QueueMode | null): Promise<boolean>;
  /** Added up over all sessions: for people who ask, not for every message. */
  total(): Promise<SessionTotal>;
}

export interface SessionTotal {
  readonly sessions: number;
  readonly usage: Usage;
}

// ── media ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface MediaStore {
  /** Stores the content, then the row or both at once. */
  put(file: {
    readonly mediaId: MediaId;
    readonly owner: Principal;
    readonly name: string;
    readonly mimeType: string;
    readonly data: Uint8Array;
    readonly at: number;
  }): Promise<MediaRef>;
  find(mediaId: MediaId): Promise<(MediaRef & { readonly owner: Principal }) | null>;
  read(mediaId: MediaId): Promise<Uint8Array | null>;
  /** Newest first. */
  list(owner: Principal, limit: number): Promise<readonly MediaRef[]>;
  /** How much this person has put in since then. */
  bytesSince(owner: Principal, since: number): Promise<number>;
  /** The file of a row that is gone; one that is gone already is fine. */
  removeFile(mediaId: MediaId): Promise<void>;
}
