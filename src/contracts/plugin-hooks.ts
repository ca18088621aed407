/** Points where plugins look in. Whoever only observes cannot break anything; whoever decides is waited for, and fails closed. */
import type { Caller } from "./agent.ts";
import type { ChatAddress, TurnOutcome } from "./chat.ts";
import type { GatewayEvents } from "./events.ts";
import type { ToolResult } from "./tools/tool.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "./ids.ts";

export interface HookEvents {
  message_received: {
    readonly sessionKey: SessionKey;
    readonly principal: Principal;
    readonly from: ChatAddress;
    readonly text: string;
  };
  before_agent_start: { readonly sessionKey: SessionKey; readonly agentId: AgentId; readonly turnId: TurnId };
  before_tool_call: {
    readonly tool: string;
    readonly callId: string;
    readonly params: unknown;
    readonly caller: Caller;
  };
  after_tool_call: {
    readonly tool: string;
    readonly callId: string;
    readonly caller: Caller;
    readonly status: "success" | "error" | "blocked" | "pending" | "unknown";
    readonly ms: number;
    /** What it ran with; of a refused call, what it would have. */
    readonly params: unknown;
    /** What it ended with, as its caller gets it; null: it has none, and `error` says why. */
    readonly result: ToolResult | null;
    readonly error: string | null;
  };
  tool_result_persist: {
    readonly tool: string;
    readonly callId: string;
    readonly caller: Caller;
    readonly output: string;
    /** The tool failed, and `output` is its error. */
    readonly isError: boolean;
  };
  tool_execution_start: GatewayEvents["tool_execution_start"];
  tool_execution_update: GatewayEvents["tool_execution_update"];
  tool_execution_end: GatewayEvents["tool_execution_end"];
  message_sending: { readonly sessionKey: SessionKey; readonly to: ChatAddress; readonly text: string };
  message_sent: { readonly sessionKey: SessionKey; readonly to: ChatAddress; readonly partId: string };
  session_start: { readonly sessionKey: SessionKey; readonly agentId: AgentId };
  session_end: { readonly sessionKey: SessionKey; readonly outcome: TurnOutcome | "reset" };
  gateway_start: { readonly version: string };
  gateway_stop: { readonly reason: string };
}

export type HookName = keyof HookEvents;

/** What a handler may answer. The rest observe. */
export interface HookAnswers {
  before_tool_call:
    | { readonly block: string }
    | { readonly params: unknown; readonly requireApproval?: true }
    | { readonly requireApproval: true }
    | void;
  tool_result_persist: { readonly output: string } | void;
  message_sending: { readonly text: string } | void;
}

export type HookAnswer<H extends HookName> = H extends keyof HookAnswers ? HookAnswers[H] : void;
export type HookHandler<H extends HookName> = (
  event: HookEvents[H],
  signal: AbortSignal,
) => HookAnswer<H> | Promise<HookAnswer<H>>;

export interface HookEntry<H extends HookName> {
  readonly plugin: string;
  readonly handler: HookHandler<H>;
}

export interface Hooks {
  on<H extends HookName>(name: H, handler: HookHandler<H>, plugin: string): Disposable;
  /** In the order of registration, as it is now. */
  of<H extends HookName>(name: H): readonly HookEntry<H>[];
  /** The same for who waits for their answers. A plugin that is just being replaced by another version of itself is waited for. */
  deciding<H extends keyof HookAnswers>(name: H): readonly HookEntry<H>[] | Promise<readonly HookEntry<H>[]>;
  /** For observers: never throws, does not wait; a handler that throws or hangs is reported as its plugin's trouble. */
  tell<H extends HookName>(name: H, event: HookEvents[H]): void;
}
