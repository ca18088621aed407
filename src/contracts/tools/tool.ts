/** A tool is a record: words for the model, schema for the machine, limits as data, one function. */
import type { AgentSessionStats, Caller } from "../agent.ts";
import type { MediaRef } from "../chat.ts";
import type { Role, SessionKey, TurnId } from "../ids.ts";

export interface Tool {
  /** 1 to 64 letters, digits, `_` or `-`; unique in the gateway, where names that differ in case alone are the same. */
  readonly name: string;
  readonly label: string;
  readonly description: string; // written for the model
  readonly parameters: Readonly<Record<string, unknown>>; // JSON Schema
  /** JSON Schema of `structured` in its results, which then is never missing. Absent: it says nothing about that. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly flags: ToolFlags;
  /** From where it may be called; absent: from everywhere the allowlist says. */
  readonly origins?: readonly ToolOrigin[];
  /** Calls of one person in a time; absent: only the gateway's general limit. */
  readonly limit?: ToolLimit;
  readonly timeoutMs: number;
  /** Asks for the owner's word before it runs, whatever the configuration says. */
  readonly approval?: boolean;
  /** No owner knows it in this form yet: every call asks, whatever the lists say and whoever was asked before, until one is approved. */
  readonly review?: ToolReview;
  /** Where in its author's files an error of it comes from, as "/folder/of/plugin/index.ts:12:5"; null: not from there. */
  locationOf?(error: unknown): string | null;
  execute(
    callId: string,
    params: unknown,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
    context: ToolContext,
  ): Promise<ToolResult>;
}

export interface ToolReview {
  /** A part of a sentence, as for any approval. */
  readonly because: string;
  /** An owner has approved a call. */
  accepted(): void;
}

/** A tool that depends on who will call it; null: not for this caller. Made once for a lease, never during a call. */
export type ToolFactory = (caller: Caller) => Tool | null;

export interface ToolFlags {
  /** Safe to run again after a crash. A turn that started any other tool is not retried. */
  readonly idempotent: boolean;
  readonly ownerOnly?: boolean;
  /** Offered only when the configuration names it. */
  readonly optional?: boolean;
  /** Never at the same time as another sequential call of its session. */
  readonly sequential?: boolean;
  /** Answers first and goes on; its end comes as a system event. */
  readonly background?: boolean;
  /** Waits for something with limits of its own, another agent: may take as long as a turn. */
  readonly long?: boolean;
  /** Touches files of the agent's workspace and nothing else. */
  readonly workspaceOnly?: boolean;
  /** Is about the conversation it is called in: of no use to a program that is in none. */
  readonly inConversation?: boolean;
  /** Needs a terminal: owner and approval. */
  readonly pty?: boolean;
  /** May do anything the gateway's user may, or inside of an agent what the sandbox lets through: owner and approval. pi's bash counts as this. */
  readonly elevated?: boolean;
}

/** The turn of a call that belongs to none: somebody called a tool directly. */
export const NO_TURN = "" as TurnId;

/** The built-in tool that finds others where there are too many to offer all of them. */
export const TOOL_SEARCH = "tool_search";

/** Where a call has its beginning: what a person or a thing did, not which wire it came over. */
export type ToolOrigin = "chat" | "group" | "cron" | "heartbeat" | "webhook" | "delegate" | "api" | "mcp";

export interface ToolLimit {
  readonly calls: number;
  readonly perMs: number;
  /** Counted in the database, so that a restart does not begin anew. */
  readonly durable?: boolean;
}

/** Everything a tool may know about its caller. */
export interface ToolContext extends Caller {
  /** What the calling agent knows about its own session. */
  stats(signal: AbortSignal): Promise<AgentSessionStats>;
  /** The call is a line of a reply: the file goes with it. False: the reply is on its way, and the file is a message of its own. */
  attach?(media: MediaRef): boolean;
  /** Whoever called, where it can be asked back during the call; absent: it cannot. */
  readonly client?: ToolClient;
}

/** An MCP client that waits for a call, and for the person in front of it. */
export interface ToolClient {
  /** Which requests it says that it answers. */
  readonly answers: readonly ClientInput["method"][];
  /**
   * Asks for several things at once, by names of the tool's choice. Resolves with an answer for each name, in the form of MCP; what is in it
   * is not checked. Rejects when the call ends before.
   */
  ask(requests: Readonly<Record<string, ClientInput>>): Promise<Readonly<Record<string, ClientAnswer>>>;
  /** Until disposed, questions and approvals of this session are asked here as well. */
  follow(sessionKey: SessionKey): Disposable;
}

/** A request to an MCP client, with the parameters that MCP gives it. */
export interface ClientInput {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params?: Readonly<Record<string, unknown>>;
}

export type ClientAnswer = Readonly<Record<string, unknown>>;

export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly details?: unknown; // for the web console and the audit log, not for the model
  /** The same result for programs, as the tool's `outputSchema` says. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** Sounds and documents for MCP clients; no model reads them. */
  readonly media?: readonly ResultMedia[];
}

export type ResultMedia =
  | { readonly type: "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource"; readonly uri: string; readonly mimeType: string; readonly text: string };

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

export interface ToolSpec {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Under which it is found as well; an agent looks for it before the gate does. */
  readonly otherNames?: readonly string[];
  /** The program that asked runs it: a call ends the run. */
  readonly client?: true;
}

/** A registered tool as operators and programs see it. */
export interface ToolListing extends ToolSpec {
  /** Who registered it: a plugin's id, or `gateway`. */
  readonly plugin: string;
  readonly flags: ToolFlags;
  readonly limit: ToolLimit | null;
  /** As its author set them; absent: no such limit. */
  readonly origins?: readonly ToolOrigin[];
  readonly approval?: boolean;
  readonly status: "ok" | "quarantined";
  readonly reason?: string;
  /** What is different from what its author may expect, though it can be used; absent: nothing. */
  readonly notices?: readonly string[];
}

/** Who may use a tool in a private chat with one agent; other origins may have narrower lists. */
export interface ToolAccess {
  readonly agent: string;
  readonly roles: readonly Role[];
}

/** `usableBy`: only agents that at least one role may use it with. `asks`: why each call waits for an owner; null: it does not. */
export interface ToolRights {
  readonly usableBy: readonly ToolAccess[];
  readonly asks: string | null;
}

export interface ListedTool extends ToolListing, ToolRights {
  /** Those of `usableBy` whose agents are not told of it before `tool_search` has found it in their session. */
  readonly behindSearch: readonly ToolAccess[];
}

/** A tool that pi brings and runs itself; the gateway only judges and records it, so it cannot be called from outside of an agent. */
export interface PiToolListing extends ToolRights {
  readonly name: string;
  readonly description: string;
  readonly flags: ToolFlags;
}

/** Every tool as people see it. `piTools` are shown beside the others and cannot be called from outside of an agent. */
export interface ToolLists {
  readonly tools: readonly ListedTool[];
  readonly piTools: readonly PiToolListing[];
}

/** All tools there are, whoever brought them. Live: a change is seen by the next question. */
export interface ToolRegistry {
  /** Throws GatewayError `tool_collision` for a name that is taken. A bad schema does not throw: the tool is quarantined. Disposing takes it away. */
  register(tool: Tool | ToolFactory, plugin: string): Disposable;
  list(): readonly ToolListing[];
  /** Grows with every change. */
  readonly revision: number;
  onChange(listener: () => void): Disposable;
}

/**
 * The only caller of `execute`: known → in this profile → names → hooks → schema → permission → approval → rate → audit intent → run with
 * deadline → check and cap → hooks → audit result. Every path into it passes every stage.
 */
export interface ToolGate {
  /** All that this caller may use; null: what a process may know before it works for anybody. */
  specs(caller: Caller | null): readonly ToolSpec[];
  /**
   * What this caller's agent is told of: all of `specs`, or a part of them and `tool_search`. What comes to a session later is at the end.
   * `live`: whether the process takes other tools during a turn.
   */
  offered(caller: Caller | null, live: boolean): Promise<readonly ToolSpec[]>;
  /** Called when what agents are offered may have changed: in one session, or (null) in all. */
  onChange(listener: (sessionKey: SessionKey | null) => void): Disposable;
  /** Never rejects; what went wrong is in the outcome, phrased for a model. */
  call(request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome>;
  /** The same stages for a tool that something else runs (pi's own): judged and written down before, its end written down after. */
  admit(request: ToolRequest, signal: AbortSignal): Promise<ToolAdmission>;
  /** Writes down what never became a call. A flood of them leaves a few rows and a number. */
  recordRejected(call: RejectedCall): void;
}

/** As far as it is known. */
export interface RejectedCall {
  readonly tool?: string;
  readonly callId?: string;
  readonly params?: unknown;
  readonly path: ToolPath;
  /** Null: the process works for nobody. */
  readonly context: ToolContext | null;
  readonly reason: "unreadable" | "outside_turn" | "id_taken" | "too_many" | "refused_by_agent" | "unauthorized";
  /** What the caller was told. */
  readonly because: string;
}

/** Over which wire it came. Each one passes the same stages; a test counts them. */
export type ToolPath = "pipe" | "http" | "socket" | "command" | "pi" | "reply" | "mcp";

export interface ToolRequest {
  readonly tool: string;
  readonly callId: string;
  readonly params: unknown;
  /** What the model wrote, where the agent has changed it before it asked; absent: `params`. */
  readonly asked?: unknown;
  readonly path: ToolPath;
  readonly context: ToolContext;
  /** Why an owner is asked before it runs with these parameters, which hooks may have changed; null: as far as the caller knows, nobody is. */
  asks?(params: unknown): ToolQuestion | null;
  /** The file that it reads or changes with these parameters, as the system finds it, links followed; null: it is about none. */
  file?(params: unknown): string | null;
  /** Where progress goes, when somebody can show it. */
  readonly onUpdate?: (partial: ToolResult) => void;
}

export interface ToolQuestion {
  /** Why: a part of a sentence. */
  readonly because: string;
  /** The folder that the call would change: a yes for the session is for this one alone. */
  readonly folder: string;
}

export type ToolRefusalCode =
  | "unknown_tool"
  | "not_allowed"
  | "invalid_params"
  | "rate_limited"
  | "approval_denied"
  | "call_conflict"
  | "outcome_unknown";

export interface ToolRefusal {
  readonly kind: "refused";
  readonly code: ToolRefusalCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

export type ToolOutcome =
  | { readonly kind: "ok"; readonly result: ToolResult; readonly kept?: KeptText }
  | ToolRefusal
  /** Accepted and not done yet: it waits for the owner, or goes on in the background. */
  | { readonly kind: "pending"; readonly code: "approval_pending" | "background"; readonly message: string }
  | {
      readonly kind: "failed";
      readonly code: "tool_failed" | "tool_timeout" | "cancelled";
      readonly message: string;
      readonly kept?: KeptText;
    };

/** The text that a plugin wants to be kept in the place of the real one, which the caller gets. Absent: the real one is kept. */
export type KeptText = string;

/** Why a call did not end with a result. */
export type ToolErrorCode = Exclude<ToolOutcome, { kind: "ok" }>["code"];

export type ToolAdmission =
  | {
      readonly kind: "go";
      /** What to run it with: hooks may have changed what was asked. */
      readonly params: unknown;
      /** A plugin may want another text to be kept than the real one: what was not checked must not be. */
      readonly checksKept: boolean;
      /** It has said so many characters by now. */
      updated(chars: number): void;
      /** Something after the gate does not allow it: it is not run. */
      refused(because: ToolRefusal): Promise<void>;
      /** `kept`: what is to be kept in the place of the output; null: the output. */
      ended(end: { readonly isError: boolean; readonly output: string }): Promise<{ readonly kept: KeptText | null }>;
    }
  | Exclude<ToolOutcome, { kind: "ok" }>;

/** What a model is told when a call did not end well. */
export type ToolEnvelope =
  | { readonly status: "error"; readonly tool: string; readonly error: string }
  | { readonly status: "blocked"; readonly tool: string; readonly reason: string }
  | { readonly status: "pending"; readonly tool: string; readonly message: string };
