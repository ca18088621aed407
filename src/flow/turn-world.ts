/** Dependencies of turns, and of one attempt at a turn. Types alone. */
import type { AgentPool } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { Usage } from "../contracts/chat.ts";
import type { Commands, LastStats } from "../contracts/command.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { TurnId } from "../contracts/ids.ts";
import type { Hooks } from "../contracts/plugin-hooks.ts";
import type { Queue } from "../contracts/queue.ts";
import type { TurnDelegations } from "../contracts/tools/delegation.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { LiveTurnRecorder } from "./live-turns.ts";
import type { MediaLineDeps } from "./ending/media-lines.ts";
import type { PromptSources } from "./prompt/prompt.ts";
import type { SpanRecorder } from "./spans.ts";

export interface TurnsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly queue: Queue;
  readonly live: LiveTurnRecorder;
  readonly commands: Commands;
  readonly rights: Rights;
  readonly budget: Pick<Budget, "ask" | "bill" | "count" | "record">;
  readonly agents: TurnAgents;
  readonly prompt: PromptSources;
  readonly replies: ReplySteps;
}

/** The agents that answer, and what is known about them. */
export interface TurnAgents {
  readonly pool: AgentPool;
  readonly delegations: TurnDelegations;
  /** Told what the agent knows about its conversation after each answer. */
  readonly lastStats: LastStats;
}

/** Steps of a reply on its way out, in this order. */
export interface ReplySteps {
  /** Files that the reply names are sent by the tool. */
  readonly tools: MediaLineDeps["tools"];
  readonly poster: MediaLineDeps["poster"];
  /** Plugins review it. */
  readonly hooks: Pick<Hooks, "deciding">;
  readonly outbox: Pick<Outbox, "wake">;
}

export interface TurnsOptions {
  readonly timeoutMs: number;
  /** How long running turns may go on after a stop was asked for; what is left then is recovered by the next start. */
  readonly graceMs: number;
  /** A heartbeat that finds nothing may say so much besides, and is still not shown. */
  readonly ackMaxChars?: number;
}

/** Shared by all turns. */
export interface TurnWorld extends TurnsDeps {
  /** Aborted when the gateway will not wait any longer. */
  readonly leaving: AbortSignal;
  /** Cost of earlier attempts at a turn, as far as their traces are gone from the session file. */
  readonly lost: Map<TurnId, Usage>;
}

/** Made for one attempt. */
export interface AttemptWorld extends TurnWorld {
  readonly spans: SpanRecorder;
  /** How often tools have sent something to the chat so far, and what the model thought. */
  readonly said: { posts: number; thoughts: string };
  /** Cost of earlier attempts and of other agents; grows while this attempt runs. */
  readonly cost: { besides: Usage };
  /** Aborted when the caller of the turn loses access. */
  readonly revoked: AbortSignal;
  /** Holds the lease, so that the answer is on its way before the process is tidied up for the next one. */
  readonly held: AsyncDisposableStack;
}
