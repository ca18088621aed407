/** What may still be spent: asked before every turn and every model call, told about everything that was paid for. */
import type { AgentId, Principal } from "./ids.ts";
import type { Spent, UsageOrigin, UsageSum } from "./store/usage.ts";

/** Nobody waits for the answer: these stop before people do. */
export const UNATTENDED: readonly UsageOrigin[] = ["cron", "heartbeat", "webhook", "delegate"];

export interface BudgetWork {
  readonly agentId: AgentId;
  readonly principal: Principal;
  readonly origin: UsageOrigin;
}

export type BudgetPeriod = "day" | "month";
export type BudgetUnit = "usd" | "tokens";

/** A limit that has something to say about a piece of work, with what was spent under it. */
export interface LimitState {
  /** The key below `budget`: `dailyUsd`, `agents.helper.monthlyTokens`. */
  readonly limit: string;
  readonly period: BudgetPeriod;
  readonly unit: BudgetUnit;
  readonly spent: number;
  readonly max: number;
  /** Where unattended work stops; the same as `max` where there is no difference. */
  readonly unattendedMax: number;
}

export type BudgetVerdict =
  | { readonly may: true }
  /** `say`: for the person who asked. `because`: for the records of the gateway, with numbers. */
  | { readonly may: false; readonly reached: LimitState; readonly say: string; readonly because: string };

export interface Budget {
  /** Costs no look into the store. */
  ask(work: BudgetWork): BudgetVerdict;
  /** The row for something that was paid for today. */
  bill(work: BudgetWork, what: Pick<Spent, "id" | "model" | "usage">): Spent;
  /** A turn that still runs has spent this. It counts at once, until the turn's own row takes its place. */
  spending(spent: Spent): void;
  /** The turn is over, whether or not it got a row. */
  settle(turnId: string): void;
  /** It is in the store: from now on it counts. */
  count(spent: Spent): void;
  /** Another gateway on the same database has spent it, and has written it down. */
  countElsewhere(spent: Spent): void;
  /** Reads the sums anew: something that was spent elsewhere may be missing in them. */
  reload(): Promise<void>;
  /** Writes it down and counts it. Never rejects: what cannot be written is counted and logged. */
  record(spent: Spent): Promise<void>;
  /** Spent today and this month: by one person, or in all. */
  used(principal?: Principal): { readonly today: UsageSum; readonly month: UsageSum };
  /** Every limit that is set for the gateway, an agent, an origin or a named person. */
  limits(): readonly LimitState[];
  /** Sentences about limits that are reached now, for the owner. */
  notices(): readonly string[];
  /** Today, and where that is. */
  today(): { readonly day: string; readonly timezone: string };
}
