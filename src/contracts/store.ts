/**
 * Small doors over one database; SQLite by default. Every method is async and is one transaction: no transaction object leaves the
 * store, so none can be held open across a wait. A write has reached the file when its method resolves, so the death of the process
 * loses nothing; writes that others rely on (accept, finish, an intent that must not be repeated) are fsynced as well, and those asked
 * for in the same tick share one fsync. Disk full or broken: the method rejects with GatewayError `store_failed` and nothing is half done.
 * After an I/O error every write is rejected until a new process has opened the database (`health.failed`).
 */
import type { MediaRef, SessionSummary, TranscriptItem, Usage } from "./chat.ts";
import type { QueueMode, SessionSettings } from "./session-settings.ts";
import type { Listed, Page } from "./paging.ts";
import type { JobStore } from "./automation/job.ts";
import type { SystemEventStore } from "./automation/system-event.ts";
import type { PairingStore } from "./channels/pairing.ts";
import type { ChannelState } from "./channels/platform.ts";
import type {
  OutboxRow,
  PartEnd,
  PartRetried,
  PendingPart,
  RetryRequest,
  TroubledPart,
  TroubledState,
} from "./delivery.ts";
import type { AgentId, InstanceId, MediaId, Principal, SessionKey, TurnId } from "./ids.ts";
import type { ApprovalRuleStore } from "./store/approval-rules.ts";
import type { ApprovalStore } from "./store/approvals.ts";
import type { ConversationFileStore } from "./store/conversation-files.ts";
import type { SignInStore } from "./store/sign-ins.ts";
import type { ConversationStore } from "./store/conversations.ts";
import type { StoreHealth } from "./store/health.ts";
import type { ActivityStore } from "./store/activity.ts";
import type { ApiKeyStore } from "./store/api-keys.ts";
import type { WebhookMarkStore } from "./store/webhook-marks.ts";
import type { RoleGrantStore } from "./store/role-grants.ts";
import type { MessageStore, ReactionStore } from "./store/messages.ts";
import type { InboxStore } from "./store/inbox.ts";
import type { TurnStore } from "./store/turns.ts";
import type { LetterStore } from "./store/letters.ts";
import type { NodeLeaseStore } from "./store/node-leases.ts";
import type { NodeStore } from "./store/nodes.ts";
import type { NoteStore } from "./store/notes.ts";
import type { SessionChatStore } from "./store/session-chats.ts";
import type { SessionBranches } from "./store/session-branches.ts";
import type { SessionCare, SessionFilter } from "./store/session-care.ts";
import type { SessionFileStore } from "./store/session-files.ts";
import type { SessionToolStore } from "./store/session-tools.ts";
import type { PushSubscriptionStore } from "./store/push-subscriptions.ts";
import type { PostStore } from "./store/posts.ts";
import type { RetentionStore } from "./store/retention.ts";
import type { IdempotentAnswerStore } from "./store/idempotent-answers.ts";
import type { ResponseStore } from "./store/responses.ts";
import type { RunSessionStore } from "./store/run-sessions.ts";
import type { TranscriptionStore } from "./store/transcriptions.ts";
import type { TaskStore } from "./store/tasks.ts";
import type { AuditTrail, ToolCallStore } from "./store/tool-calls.ts";
import type { UsageStore } from "./store/usage.ts";

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
  readonly approvalRules: ApprovalRuleStore;
  readonly usage: UsageStore;
  readonly apiKeys: ApiKeyStore;
  readonly pushSubscriptions: PushSubscriptionStore;
  readonly sessionTools: SessionToolStore;
  readonly responses: ResponseStore;
  readonly idempotentAnswers: IdempotentAnswerStore;
  readonly retention: RetentionStore;
  readonly nodes: NodeStore;
  readonly nodeLeases: NodeLeaseStore;
  readonly letters: LetterStore;
  readonly health: StoreHealth;
  /** How many times this state directory was opened: 1 for the first start, then 2, … */
  readonly epoch: number;
  /** The gateway that opened it: the owner of its claims. */
  readonly instanceId: InstanceId;
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
  /** Whether this turn still runs, or a part of its reply has not ended, at this gateway or at another one. */
  isOwed(turnId: TurnId): Promise<boolean>;
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
  /**
   * Makes a part wait again that has ended as `dead` or `ambiguous`: as the newest of all parts, of this gateway, with nothing tried yet. Noted in
   * the audit log in the same transaction; fsynced.
   */
  retry(id: string, request: RetryRequest, at: number): Promise<PartRetried>;
  /** Latest end first. `ambiguous` has those too that were in doubt until somebody had them sent again, at the time of that. */
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
  /** Makes a session in which nothing was said yet, unless it is there; lists leave it out until something is. */
  open(session: UnusedSession): Promise<void>;
  readonly branches: SessionBranches;
  /** Holds from the next turn on. What is left out stays as it is. False: no such session. */
  configure(key: SessionKey, settings: Partial<SessionSettings>): Promise<boolean>;
  /** Sets its title; null: the title follows from its first message again. False: no such session. */
  rename(key: SessionKey, name: string | null): Promise<boolean>;
  /** How it wants to be queued; null: as its channel, and the gateway, say. False: no such session. Read with the summary and by `inbox.accept`. */
  setQueueMode(key: SessionKey, mode: QueueMode | null): Promise<boolean>;
  /** Added up over all sessions: for people who ask, not for every message. */
  total(): Promise<SessionTotal>;
}

interface UnusedSession {
  readonly key: SessionKey;
  readonly channel: string;
  readonly agentId: AgentId;
  readonly person: Principal;
  readonly at: number;
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
  /** Removes copies on this disk that are older than that and whose rows are gone, because another gateway has deleted them; how many. */
  removeCopies(before: number): Promise<number>;
}
