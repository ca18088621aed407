/** One map of everything that happens. Observers cannot break the flow. The names below `turn.` and `message` also go to clients. */
import type { JobRun } from "./automation/job.ts";
import type { OutboundMessage, ToolStatus, TranscriptItem, TurnOutcome, Usage } from "./chat.ts";
import type { InboxId, Principal, Role, SessionKey, TurnId } from "./ids.ts";
import type { ModelCall } from "./model-door.ts";
import type { Span } from "./queue.ts";
import type { QuestionNews } from "./channels/question.ts";
import type { ApprovalNews } from "./tools/approval.ts";
import type { ToolResult } from "./tools/tool.ts";

export interface GatewayEvents {
  message: { readonly sessionKey: SessionKey; readonly item: TranscriptItem };
  "turn.started": {
    readonly sessionKey: SessionKey;
    readonly turnId: TurnId;
    readonly inboxIds: readonly InboxId[];
    readonly attempt: number;
    readonly waitedMs: number;
  };
  /** Messages that belong to this turn from now on, although it had begun, or ended, without them. */
  "turn.joined": { readonly sessionKey: SessionKey; readonly turnId: TurnId; readonly inboxIds: readonly InboxId[] };
  "turn.delta": { readonly sessionKey: SessionKey; readonly turnId: TurnId; readonly text: string };
  /** What the model thinks before it answers; not part of the reply. */
  "turn.thought": { readonly sessionKey: SessionKey; readonly turnId: TurnId; readonly text: string };
  "turn.tool": {
    readonly sessionKey: SessionKey;
    readonly turnId: TurnId;
    readonly callId: string;
    readonly tool: string;
    readonly status: ToolStatus;
    readonly input?: unknown;
    /** Newest line of what it says while it runs. */
    readonly progress?: string;
    readonly output?: string;
    readonly ms?: number;
  };
  /** The turn waits for something outside, such as a provider that asks it to; over with its next word or call. */
  "turn.waiting": {
    readonly sessionKey: SessionKey;
    readonly turnId: TurnId;
    readonly until: number;
    readonly text: string;
  };
  /** The owner is asked about a call, and later: how that ended. */
  approval: ApprovalNews;
  /** A person is asked something by a running turn, and later: how that ended. */
  question: QuestionNews;
  /** A call was rejected, on whichever path it came; nothing ran. */
  tool_refused: ToolExecution & { readonly status: "blocked" | "error" };
  /** A tool starts, makes progress, has ended; on whichever path it was called. Values are masked copies; also plugin hooks of the same names. */
  tool_execution_start: ToolExecution & { readonly params: unknown };
  tool_execution_update: ToolExecution & { readonly chars: number };
  tool_execution_end: ToolExecution & {
    readonly status: ToolStatus;
    readonly ms: number;
    /** Its caller was answered before it ended. */
    readonly background: boolean;
    /** The parameters it ran with; of a rejected call, those it would have run with. */
    readonly params: unknown;
    /** The result as it is kept; null: there is none, and `error` says why. */
    readonly result: ToolResult | null;
    readonly error: string | null;
  };
  /** The reply itself follows as `message`. */
  "turn.ended": {
    readonly sessionKey: SessionKey;
    readonly turnId: TurnId;
    readonly inboxIds: readonly InboxId[];
    readonly outcome: TurnOutcome;
    readonly ms: number;
    readonly usage: Usage;
  };
  /** Where the time of an ended turn went; comes before its `turn.ended`. */
  "turn.measured": {
    readonly turnId: TurnId;
    readonly attempt: number;
    readonly spans: readonly Span[];
    /** Now, when its end is stored. */
    readonly sinceAcceptedMs: number;
  };
  /** A model call of a turn has ended. */
  "model.call": ModelCall;
  /** What was said in an ended turn, for those who keep records; comes before its `turn.ended`. */
  "turn.recorded": {
    readonly sessionKey: SessionKey;
    readonly turnId: TurnId;
    readonly role: Role;
    readonly said: readonly {
      readonly at: number;
      readonly principal: Principal;
      readonly name: string;
      readonly text: string;
      /** Names of files. */
      readonly attachments: readonly string[];
    }[];
    readonly reply: readonly OutboundMessage[];
    readonly outcome: TurnOutcome;
    readonly ms: number;
    readonly usage: Usage;
    readonly model: string;
  };
  /** One agent has asked another one, or was not let. Its cost is in the turn that asked. */
  "delegation.ended": { readonly outcome: DelegationOutcome; readonly ms: number };
  /** A slot of a job got its row, or its run has ended. */
  "cron.run": { readonly run: JobRun };
  /** Something an operator would want to see changed: config, pool trouble, sessions, replies that did not arrive, plugins, people who ask for access, channels, jobs, budgets, keys of programs, approval rules. */
  status: {
    readonly what:
      | "config"
      | "agents"
      | "sessions"
      | "outbox"
      | "plugins"
      | "pairing"
      | "channels"
      | "jobs"
      | "budget"
      | "keys"
      | "rules";
  };
  /** Its rows are gone; whoever keeps something about it forgets it. */
  "session.deleted": { readonly sessionKey: SessionKey };
  "agent.spawned": { readonly pid: number };
  /** A process was started, or a session opened, for a message that may come. `used`: within a minute one came, and met it. */
  "agent.prepared": { readonly used: boolean };
  "agent.exited": { readonly pid: number; readonly code: number | null; readonly expected: boolean };
}

export type DelegationOutcome = "done" | "failed" | "refused";

export interface ToolExecution {
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly callId: string;
  readonly tool: string;
}

export type EventName = keyof GatewayEvents;
export const CLIENT_EVENTS = [
  "message",
  "turn.started",
  "turn.joined",
  "turn.delta",
  "turn.thought",
  "turn.tool",
  "turn.waiting",
  "turn.ended",
  "cron.run",
  "approval",
  "question",
  "status",
] as const satisfies readonly EventName[];
export type ClientEventName = (typeof CLIENT_EVENTS)[number];

export interface Events {
  emit<E extends EventName>(event: E, data: GatewayEvents[E]): void;
  on<E extends EventName>(event: E, listener: (data: GatewayEvents[E]) => void): Disposable;
}

/** The numbered stream that clients follow. `seq` grows for ever, across restarts too. */
export interface ClientStream {
  /** The number of the newest event. */
  readonly seq: number;
  /** Everything after `sinceSeq`, or null when that is too long ago (or from a previous process) to replay. */
  since(sinceSeq: number): readonly ClientEvent[] | null;
  onEvent(listener: (event: ClientEvent) => void): Disposable;
}

export interface ClientEvent {
  readonly event: ClientEventName;
  readonly seq: number;
  /** The session it tells of; null: it is about the whole gateway. */
  readonly sessionKey: SessionKey | null;
  readonly json: string; // the whole frame, serialised once for all clients
}
