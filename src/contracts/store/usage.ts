/** What models have cost, as rows that are written once and never changed: the usage ledger of the gateway. */
import type { Usage } from "../chat.ts";
import type { AgentId, Principal } from "../ids.ts";
import type { Listed, Page } from "../paging.ts";

/** What made the work begin. `group` and `api` are people too, `delegate` is an agent that another one asked. */
export const USAGE_ORIGINS = ["chat", "group", "api", "cron", "heartbeat", "webhook", "delegate"] as const;
export type UsageOrigin = (typeof USAGE_ORIGINS)[number];

export interface Spent {
  /** Unique for ever: written twice it counts once. A turn, or a part of one that is written by itself. */
  readonly id: string;
  /** `2026-01-31`, in the gateway's time zone. */
  readonly day: string;
  readonly agentId: AgentId;
  readonly principal: Principal;
  readonly origin: UsageOrigin;
  /** `provider/model`; empty: not known. */
  readonly model: string;
  readonly usage: Usage;
}

/** `from` and `to` are days, both included. */
interface UsageSpan {
  readonly from: string;
  readonly to: string;
}

export const USAGE_BY = ["day", "agent", "origin", "model", "principal"] as const;
export type UsageBy = (typeof USAGE_BY)[number];

export interface UsageSum {
  readonly turns: number;
  /** `cachedTokens` of them came from the provider's cache. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface UsageItem extends UsageSum {
  readonly key: string;
}

export interface UsageStore {
  /** False: it was written before. */
  record(spent: Spent): Promise<boolean>;
  /** Added up. Days: the latest first. Everything else: the dearest first. */
  report(
    asked: UsageSpan & { readonly by: UsageBy },
    page: Page,
  ): Promise<Listed<UsageItem> & { readonly total: UsageSum }>;
  /** The same, all of it, in no particular order. */
  sums(asked: UsageSpan & { readonly by: UsageBy }): Promise<readonly UsageItem[]>;
  /** Drops some of what is older than this day; returns how many rows. 0: there are none left. */
  prune(before: string): Promise<number>;
}
