/** One timeline of what happened: turns, tool calls, model calls, runs of jobs, and deliveries of replies. Only reads; the rows belong to others. */
import type { Usage } from "../chat.ts";
import type { Principal, SessionKey, TurnId } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";

export const ACTIVITY_KINDS = ["turn", "tool", "model", "job", "delivery"] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** `stopped`: somebody or a rule did not want it. `unknown`: it may have happened, or not. */
export const ACTIVITY_OUTCOMES = ["ok", "failed", "stopped", "running", "unknown"] as const;
export type ActivityOutcome = (typeof ACTIVITY_OUTCOMES)[number];

export interface ActivityFilter {
  readonly kind?: ActivityKind;
  readonly agent?: string;
  readonly person?: string;
  readonly channel?: string;
  readonly outcome?: ActivityOutcome;
  /** In what was said, in names and inputs of tools, in names of models and jobs, and in reasons. */
  readonly text?: string;
}

export interface ActivityEntry {
  /** Of the turn, the call, the run or the part of the reply; of a model call: that of its turn, and a number. */
  readonly id: string;
  readonly kind: ActivityKind;
  readonly at: number;
  /** Null: it has not ended. */
  readonly ms: number | null;
  readonly outcome: ActivityOutcome;
  /** The tool, model, job or channel; of a turn: the first words of its message. */
  readonly name: string;
  /** Why it did not end well, or how much it used; empty: nothing is known. */
  readonly note: string;
  readonly turnId: TurnId | null;
  readonly sessionKey: SessionKey | null;
  readonly agentId: string | null;
  readonly channel: string | null;
  readonly person: Principal | null;
  /** Of a turn. */
  readonly usage?: Usage;
}

/** `searchedTo`: nothing before this moment was looked at, though `next` goes on from there. Absent: the page is full, or there is no more. */
export interface ActivityPage extends Listed<ActivityEntry> {
  readonly searchedTo?: number;
}

export interface ActivityStore {
  /** Newest first. A page may be short, or empty, while there is a next one: each looks at a limited number of rows. */
  list(filter: ActivityFilter, page: Page): Promise<ActivityPage>;
}

/** Shown below what a turn has said. */
export interface TurnCost {
  readonly ms: number;
  readonly usage: Usage;
}
