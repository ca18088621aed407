/** What crosses the network between clients (page, CLI, scripts) and the gateway. Types only; http/ parses, console/ reads. */
import type { ApiKey } from "./api-keys.ts";
import type { Job, JobRun, JobSpec } from "./automation/job.ts";
import type { JobChoice, JobsStatus } from "./automation/jobs.ts";
import type { LimitState } from "./budget.ts";
import type { OpenQuestion } from "./channels/question.ts";
import type { MediaRef, SessionSummary, TranscriptItem, Usage } from "./chat.ts";
import type { Command } from "./command.ts";
import type { ClientEventName, GatewayEvents } from "./events.ts";
import type { LiveTurn, PreparedSession } from "./flow.ts";
import type { McpServerState } from "./mcp.ts";
import type { SandboxReport, SandboxSetting } from "./sandbox.ts";
import type { TurnCost } from "./store/activity.ts";
import type { SessionFilter } from "./store/session-care.ts";
import type { RuleReach } from "./tools/approval-rule.ts";
import type { ApprovalDecision, PendingApproval } from "./tools/approval.ts";
import type { ToolEnvelope, ToolLists, ToolResult } from "./tools/tool.ts";

export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly retryAfterMs?: number;
}

export type WireResponse =
  | { readonly id: string; readonly ok: true; readonly result: unknown }
  | { readonly id: string; readonly ok: false; readonly error: WireError };

export type WireEvent =
  | {
      [E in ClientEventName]: { readonly event: E; readonly seq: number; readonly data: GatewayEvents[E] };
    }[ClientEventName]
  /** The events since `sinceSeq` are no longer there: read the open session again, then follow from `seq`. */
  | { readonly event: "resync"; readonly seq: number; readonly data: Record<string, never> };

export interface WireMethods {
  "chat.send": {
    params: {
      session: string;
      /** Whose session a short name means. Left out: whom the bindings name, for a key one of its agents. */
      agent?: string;
      text: string;
      clientId: string;
      attachments?: readonly { mediaId: string }[];
      /** The message of the session that it replies to. */
      replyTo?: string;
    };
    result: { accepted: string; sessionKey: string; duplicate: boolean };
  };
  /** As chat.send, for a message that is to be steered into the running answer, whatever the queue mode. */
  "chat.steer": {
    params: { session: string; agent?: string; text: string; clientId: string };
    result: { accepted: string; sessionKey: string; duplicate: boolean };
  };
  /** `id` as it was accepted; only as long as it waits, and for the one who sent it. */
  "chat.cancel": { params: { id: string }; result: { cancelled: boolean; turnId: string } };
  /** Other words for a message of one's own, as long as it waits. */
  "chat.edit": { params: { id: string; text: string }; result: { edited: boolean } };
  /** A reaction to a message of the assistant; null removes it. The assistant hears of it with its next turn. */
  "chat.react": { params: { id: string; emoji: string | null }; result: { reacted: boolean } };
  "chat.abort": { params: { session: string }; result: { aborted: boolean } };
  /** The slash commands that the caller may use in this session, which need not be there yet. */
  "commands.list": {
    params: { session: string; agent?: string };
    result: { sessionKey: string; items: readonly WireCommand[] };
  };
  "sessions.list": {
    params: SessionFilter & { limit?: number; cursor?: string };
    result: { items: readonly SessionSummary[]; next?: string };
  };
  "sessions.get": { params: { session: string; limit?: number; cursor?: string }; result: SessionView };
  /**
   * A hint that the caller may write here soon: opens the session in a process ahead, if that costs nobody anything. Answers with what is begun, and
   * why; begins no turn and stores nothing. The session need not be there yet.
   */
  "sessions.prepare": { params: { session: string; agent?: string }; result: PreparedSession };
  "sessions.reset": { params: { session: string }; result: { reset: boolean } };
  "tools.list": { params: Record<string, never>; result: ToolLists };
  /** What is refused or fails is an error of the method, with the code of the call. */
  "tools.call": {
    params: { tool: string; params?: unknown; callId?: string };
    result: { result: ToolResult; callId: string };
  };
  "cron.list": {
    params: { limit?: number; cursor?: string } & JobChoice;
    result: { items: readonly WireListedJob[]; next?: string };
  };
  "cron.add": { params: WireJobInput; result: { job: WireJob } };
  "cron.update": { params: { id: string } & Partial<Omit<WireJobInput, "id">>; result: { job: WireJob } };
  "cron.remove": { params: { id: string }; result: { job: WireJob } };
  "cron.pause": { params: { id: string }; result: { job: WireJob } };
  "cron.resume": { params: { id: string }; result: { job: WireJob } };
  "cron.run": { params: { id: string }; result: { job: WireJob; run?: WireRun } };
  "cron.runs": {
    params: { id: string; limit?: number; cursor?: string };
    result: { items: readonly WireRun[]; next?: string };
  };
  "cron.wake": { params: { text: string; mode?: "now" | "next-heartbeat" }; result: { sessionKey: string } };
  "cron.status": { params: Record<string, never>; result: JobsStatus };
  /** The open questions, oldest first. */
  "approvals.list": { params: Record<string, never>; result: { items: readonly PendingApproval[] } };
  /** `not_found`: the question is not open any more. */
  "approvals.decide": {
    params: { id: string; decision: ApprovalDecision; rule?: RuleReach };
    result: { decision: ApprovalDecision };
  };
  /** What running turns want to know from people, oldest first. */
  "questions.list": { params: Record<string, never>; result: { items: readonly OpenQuestion[] } };
  /** `answer`: one of the options, words, or true and false; null: none. `not_found`: the question is over. */
  "questions.answer": { params: { id: string; answer: string | boolean | null }; result: { said: string } };
  subscribe: { params: { events: readonly string[]; sinceSeq?: number }; result: { seq: number } };
  status: { params: Record<string, never>; result: GatewayStatus };
}

/** `name` without the slash. `usage`: its arguments, for people; absent where it takes none. */
type WireCommand = Pick<Command, "name" | "help" | "usage">;

/** A conversation as of `seq`: apply later events on top of it. `mediaUrls` are signed and expire. */
export interface SessionView {
  readonly session: SessionSummary | null;
  readonly items: readonly TranscriptItem[];
  readonly next?: string;
  readonly live: LiveTurn | null;
  readonly seq: number;
  readonly mediaUrls: Readonly<Record<string, string>>;
  /** What the turns of `items` took and cost, by their ids. */
  readonly turns: Readonly<Record<string, TurnCost>>;
}

/** A key to be made. Without a list of agents or tools it is for all of them. */
export interface WireKeyInput extends Pick<ApiKey, "name" | "scopes">, Partial<Pick<ApiKey, "agents" | "tools">> {
  readonly dailyUsd?: number;
  readonly dailyTokens?: number;
  readonly requestsPerMinute?: number;
  /** Such as `90d`; absent: never. */
  readonly expiresIn?: string;
}

/** `error` and `envelope` say the same: one to programs, one to models. */
export type ToolCallReply =
  | { readonly ok: true; readonly result: ToolResult; readonly callId: string }
  | { readonly ok: false; readonly error: WireError; readonly envelope: ToolEnvelope; readonly callId: string };

export interface ChatReply {
  readonly content: string;
  readonly tool_calls: readonly {
    readonly tool: string;
    readonly input: unknown;
    readonly status: string;
    readonly ms: number;
  }[];
  readonly sessionKey: string;
  readonly turnId: string;
  readonly usage: Usage;
  /** Files that came with the answer; the addresses are signed and expire. */
  readonly attachments?: readonly (MediaRef & { readonly url: string })[];
}

export interface ConfigStatus {
  readonly file: string | null;
  readonly applied: boolean;
  /** Whole sentences, with line and column where there is a place. */
  readonly problems: readonly string[];
}

/** One MCP server in a few words; `tools`: how many it has that agents can be given. */
interface McpServerLine {
  readonly name: string;
  readonly state: McpServerState;
  readonly tools: number;
  readonly trouble: string | null;
}

/** Backups that the gateway makes by itself. */
export interface BackupReport {
  /** Null: none. */
  readonly everyMs: number | null;
  readonly folder: string;
  /** Of the newest one in the folder, as far as it is known. */
  readonly newestAt: number | null;
  /** Why the last one failed; null: it did not. */
  readonly failure: string | null;
}

export interface GatewayStatus {
  readonly version: string;
  /** Changes when the web console's files change, so that an open tab knows to reload. */
  readonly build: string;
  readonly backup: BackupReport;
  readonly uptimeMs: number;
  /** This gateway among those that use the database. */
  readonly node: { readonly id: string; readonly name: string };
  readonly model: { readonly name: string | null; readonly demo: boolean };
  readonly channels: readonly { readonly id: string; readonly ok: boolean; readonly detail: string }[];
  readonly pool: {
    readonly starting: number;
    readonly idle: number;
    readonly busy: number;
    readonly waiting: number;
    readonly max: number;
    /** Why so many, as a sentence without an end. */
    readonly maxBecause: string;
  };
  /** Why agents cannot be started, as a sentence; null: they can. */
  readonly agentTrouble: string | null;
  /** The wall around agent processes: what is set, what this machine can build, what that does not hold, and what would help. */
  readonly sandbox: SandboxReport & { readonly setting: SandboxSetting };
  /** `file`: null, the defaults. `applied`: the file as it is now is in force; otherwise `problems` says why it is not. */
  readonly config: ConfigStatus;
  readonly queue: { readonly waiting: number; readonly running: number };
  /** `dead` and `ambiguous`: replies that did not arrive, or perhaps twice, within the last day. */
  readonly outbox: { readonly pending: number; readonly dead: number; readonly ambiguous: number };
  /** `failed`: those that should run and do not. */
  readonly plugins: { readonly running: number; readonly failed: number };
  /** MCP servers of the settings. */
  readonly mcp: readonly McpServerLine[];
  /** Every limit that is set, with what was spent under it today or this month. */
  readonly budgets: readonly LimitState[];
  /** Plain sentences about what needs the owner's attention; empty when all is well. */
  readonly notices: readonly string[];
}

/** A job as a client gives it: an entry of `cron.jobs` in the configuration. What is left out has a default. */
export interface WireJobInput extends Partial<Omit<JobSpec, "schedule" | "task" | "agentId" | "timeoutMs">> {
  readonly schedule: JobSpec["schedule"];
  readonly task: string;
  readonly agentId?: string;
  readonly timeoutMs?: number | string;
  readonly paused?: boolean;
}

/** `words`: when it runs, in plain words; null: its schedule cannot be said so. */
export type WireJob = Omit<Job, "revision" | "anchorAt"> & { readonly words: string | null };

/** In a list: with the newest of its runs, if it has any. */
export type WireListedJob = WireJob & { readonly lastRun?: WireRun };

/** `reason` and `turnId` are absent where there is none. */
export type WireRun = Omit<JobRun, "reason" | "turnId" | "retryAt"> & {
  readonly reason?: string;
  readonly turnId?: string;
  readonly retryAt?: number;
  /** In the list of a job's runs: where it was worked on, when that is a session of its own. */
  readonly sessionKey?: string;
};
