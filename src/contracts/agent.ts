/** Isolated agent processes, reused when they fit. Nothing outside agents/ knows a pi type. */
import type { ThinkingLevel } from "./session-settings.ts";
import type { ChatAddress, MessageOrigin, Usage } from "./chat.ts";
import type { ErrorCode } from "./errors.ts";
import type { ClientTool, HistoryMessage } from "./client-request.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "./ids.ts";
import type { FileChange } from "./store/session-files.ts";

export interface AgentPool extends AsyncDisposable {
  /** Waits for a fitting process. Throws GatewayError (`agent_unavailable`, `pool_exhausted`); rejects with `signal.reason` when aborted. */
  lease(request: LeaseRequest, signal: AbortSignal): Promise<AgentLease>;
  stats(): PoolStats;
  /** Those that run or start now. */
  processes(): readonly AgentProcess[];
  /** An idle process has this session open: its next turn begins without a switch. */
  hasOpen(sessionKey: SessionKey): boolean;
  /**
   * Prepares what the next message of a session would wait for: a process of this person with the session open. A hint: a lease is hardly delayed
   * by it, and may take or end what was prepared. Resolves when it is decided; throws like `lease` for an agent that is not there.
   */
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<Preparation>;
  /** What can be chosen for this agent from one provider; without a name, from the agent's own. */
  models(asked: ModelQuery, signal: AbortSignal): Promise<readonly AgentModel[]>;
}

export interface ModelQuery {
  readonly caller: Caller;
  readonly provider?: string;
}

export interface PoolStats {
  readonly starting: number;
  readonly idle: number;
  readonly busy: number;
  readonly waiting: number;
  readonly max: number;
  /** Why so many: the setting, or what the machine can hold. */
  readonly maxBecause: string;
  /** What pi said its model is, or what it was told to use; null while only pi could know. */
  readonly model: string | null;
  /** Why processes do not start, in plain words; null while all is well. */
  readonly trouble: string | null;
}

/** One process of the pool, as its owner sees it. */
export interface AgentProcess {
  /** Of the pool; grows. */
  readonly id: number;
  /** Null: it is starting. */
  readonly pid: number | null;
  readonly agentId: AgentId;
  readonly state: "starting" | "idle" | "busy";
  /** In this state. */
  readonly sinceMs: number;
  /** Whom it serves, or served last; null: nobody yet. */
  readonly person: Principal | null;
  readonly role: Role | null;
}

export interface LeaseRequest {
  readonly caller: Caller;
  /** File name below the sessions folder. */
  readonly sessionFile: string;
  /** How much of that file belongs to finished turns. More than that is what an interrupted turn left behind: it is cut off before the file is opened. */
  readonly settledBytes: number;
  /** While all processes are busy, higher goes first. As in the queue; default 0. */
  readonly priority?: number;
  /** `provider/model` instead of the agent's own. Of another provider: served by a process that has that one's key and no other. */
  readonly model?: string;
  readonly thinking?: ThinkingLevel;
  /**
   * The turn that waits for this one, and holds a process meanwhile. When every process serves a turn that waits for another, none can become
   * free: then the lease fails with `pool_exhausted` at once.
   */
  readonly delegatedBy?: TurnId;
  /** The session ends with this lease: its file is removed. */
  readonly passing?: boolean;
  /** What was said before, in a session that begins with this lease. */
  readonly history?: readonly HistoryMessage[];
}

/** For whom, as of a message that may come. */
export interface PrepareRequest extends Pick<LeaseRequest, "caller" | "model"> {
  /** The session as its last turn left it; null: nothing was said in it yet, so that a process is all it needs. */
  readonly session: Pick<LeaseRequest, "sessionFile" | "settledBytes"> | null;
}

export interface Preparation {
  /** `session`: it is being opened in a process. `process`: one is being started, in which it is opened then. */
  readonly prepares: "session" | "process" | "nothing";
  readonly because: string;
  /** Resolves when it is done, or has come to nothing. Never rejects. */
  readonly over: Promise<void>;
}

/** A model that can be chosen, as pi describes it. */
export interface AgentModel {
  readonly name: string; // `provider/model`
  /** How much it can be told to think; `off` alone for one that does not. */
  readonly thinking: readonly ThinkingLevel[];
  /** US dollars per million tokens; absent: not known. */
  readonly price?: ModelPrice;
}

interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** For whom an agent works right now. Tool calls from its pipe act for exactly this and nobody else. */
export interface Caller {
  readonly sessionKey: SessionKey;
  readonly turnId: TurnId;
  readonly agentId: AgentId;
  readonly principal: Principal;
  readonly role: Role;
  readonly origin: ChatAddress;
  /** Of the chat; absent: as the session key says. */
  readonly scope?: "dm" | "group";
  /** The larger place that the chat is part of, such as a Discord guild; absent: there is none, or it is not known any more. */
  readonly place?: string;
  /** What made the work begin; absent: somebody said something. */
  readonly cause?: MessageOrigin;
  /** Of a delegated turn: whoever asked. It may do no more than they may. */
  readonly askedBy?: Caller;
  /** Tools that the program which asked runs itself; absent: none. */
  readonly clientTools?: readonly ClientTool[];
}

/** Exclusive use of one process with the session open. Disposing gives it back, or ends it when it is no longer trustworthy. */
export interface AgentLease extends AsyncDisposable {
  readonly pid: number;
  /** The process had the session open already; false: it had to open it. Absent: it does not say. */
  readonly wasOpen?: boolean;
  /** Does not throw for model, tool or process failures: the stream ends with exactly one `done`, `failed` or `aborted`. */
  prompt(input: PromptInput, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /**
   * Says more into the running prompt. Resolves with `taken` when it has become part of the conversation: the model hears it with its next
   * call, before this prompt ends. `too_late`: it has not and will not. Settles before the stream's reader is done with the last event, never
   * rejects. One at a time.
   */
  steer(input: PromptInput, signal: AbortSignal): Promise<"taken" | "too_late">;
  /** Size of the session file now. Meaningful after the stream has ended. */
  settledBytes(): Promise<number>;
  /** What this lease made of the session file, up to that size, for whoever ends the turn. Null: the file stays on this machine. */
  fileChange?(settledBytes: number): Promise<FileChange | null>;
  /** What the agent knows about the conversation now; for after the stream has ended. */
  stats(signal: AbortSignal): Promise<AgentSessionStats>;
  /** What an interrupted attempt had cost, found in the part of the session file that was cut off. */
  readonly lost: Usage & { readonly model?: string };
  /** The agent remembers nothing of the conversation, although turns have ended in it. Absent: it does. */
  readonly startedOver?: StartedOver;
  /** Has the conversation so far summarised. Does not throw for model or process failures. */
  compact(instructions: string, signal: AbortSignal): Promise<Compaction>;
}

export interface StartedOver {
  /** Follows "the session file". */
  readonly because: string;
  /** Where the old file is; null when there is none. */
  readonly kept: string | null;
}

export type Compaction =
  | {
      readonly kind: "done";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly usage: Usage;
      readonly model: string;
    }
  /** There is too little to summarise, or it was done a moment ago. */
  | { readonly kind: "nothing" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly detail: string };

export interface PromptInput {
  /** What people said. Never read as a command, unless its first word names one of the agent's prompt templates. */
  readonly text: string;
  /** What the gateway says before it; left out where a prompt template is called. */
  readonly preface?: string;
  readonly images: readonly { readonly mimeType: string; readonly base64: string }[];
  /** What the program that asks tells the model for this turn, besides the agent's own instructions. Not kept. */
  readonly instructions?: string;
  /** Pieces of the preface that the model of this turn reads otherwise than they are kept. */
  readonly realTexts?: readonly RealText[];
}

/** `kept` is unique in the prompt. */
export interface RealText {
  readonly kept: string;
  readonly real: string;
}

export type AgentEvent =
  | { readonly type: "text"; readonly delta: string }
  /** What the model thinks before it answers. Not part of the answer. */
  | { readonly type: "thought"; readonly delta: string }
  | { readonly type: "tool_start"; readonly callId: string; readonly tool: string; readonly input: unknown }
  /** Text of a tool that still runs; what an earlier update said may be in it again. */
  | { readonly type: "tool_update"; readonly callId: string; readonly text: string }
  | {
      readonly type: "tool_end";
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      readonly output: string;
    }
  /** The agent tries again by itself after a passing provider error; what it had streamed is void. */
  | { readonly type: "retrying"; readonly because: string }
  /** The provider has asked to wait, and is asked again when that time is over. */
  | { readonly type: "waiting"; readonly waitMs: number; readonly until: number; readonly model: string }
  /** `failed`: the model that was asked first, and why another one answered. */
  | {
      readonly type: "done";
      readonly text: string;
      readonly usage: Usage;
      readonly model: string;
      readonly failed?: FailedModel;
    }
  | { readonly type: "aborted"; readonly text: string; readonly usage: Usage; readonly model: string }
  /** `again`: a new attempt in a new process may succeed (the process died, it was not the model that said no). */
  | {
      readonly type: "failed";
      readonly code: ErrorCode;
      readonly detail: string;
      readonly again: boolean;
      /** What people are told instead of what the code says; for failures that the gateway itself has decided. */
      readonly say?: string;
      /** The provider has said how long to wait: that time is over then. */
      readonly tryAt?: number;
      readonly text: string;
      readonly usage: Usage;
      readonly model: string;
    };

/** A model that could not answer, so that another one was asked. */
export interface FailedModel {
  /** `provider/model`. */
  readonly model: string;
  readonly because: string;
}

/** What an agent knows about the session it has open, for `session_status`. */
export interface AgentSessionStats {
  readonly model: string;
  readonly thinking: string;
  readonly messages: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly contextPercent: number | null;
  readonly contextWindow: number | null;
}
