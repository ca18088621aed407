/** One agent asks another one. A delegated turn is part of the turn that asked: it is stopped with it, paid with it and shown below it, and has no chat of its own. */
import type { Caller } from "../agent.ts";
import type { Usage } from "../chat.ts";
import type { AgentId, TurnId } from "../ids.ts";
import type { Span } from "../queue.ts";

/** What the tool `delegate_to_agent` needs. */
export interface Delegator {
  /** Whom this caller's agent may ask, as far as that is known before it asks. */
  choices(caller: Caller): readonly DelegateChoice[];
  /** Never rejects. After the signal has aborted the other agent is stopped at once. */
  ask(task: DelegatedTask, signal: AbortSignal): Promise<DelegationEnd>;
}

export interface DelegateChoice {
  readonly agentId: AgentId;
  /** What it is for, in its owner's words; empty: nobody said. */
  readonly description: string;
}

export interface DelegatedTask {
  readonly caller: Caller;
  readonly callId: string;
  readonly agent: string;
  readonly task: string;
  /** At most what the configuration and the rest of the caller's own time allow. */
  readonly timeoutMs?: number;
  /** Told what the other agent has said so far. */
  readonly onText?: (text: string) => void;
}

export type DelegationRefusal =
  "no_turn" | "not_listed" | "too_deep" | "too_many_in_turn" | "too_many" | "no_time" | "budget";

export type DelegationEnd =
  | { readonly kind: "answered"; readonly agentId: AgentId; readonly text: string; readonly model: string }
  /** Nothing was asked. */
  | { readonly kind: "refused"; readonly because: DelegationRefusal; readonly say: string }
  | { readonly kind: "failed"; readonly code: string; readonly say: string };

/** What turns need: their delegations end with them and are added to them. */
export interface TurnDelegations {
  /** From now on this turn may delegate. Disposing ends that. */
  open(turn: DelegatingTurn): OpenDelegations;
}

export interface DelegatingTurn {
  readonly turnId: TurnId;
  /** When it has to be over, as `clock.elapsed()` counts. */
  readonly endsAt: number;
  /** Aborts when it is stopped, for whatever reason. */
  readonly signal: AbortSignal;
}

export interface OpenDelegations extends Disposable {
  /** After the agent's last word: what was delegated is over, or gets a moment to end; then it is added up. */
  settle(): Promise<Delegated>;
}

export interface Delegated {
  readonly usage: Usage;
  /** Oldest first. */
  readonly spans: readonly DelegatedSpan[];
}

export interface DelegatedSpan {
  readonly name: string;
  /** As `clock.elapsed()` counts. */
  readonly startedAt: number;
  readonly ms: number;
  /** Counted from `startedAt`. */
  readonly children: readonly Span[];
}
