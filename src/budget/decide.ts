/** Whether something may begin that costs money: a pure decision from what was spent and what is allowed, with its reason. */
import type { Config } from "../config/index.ts";
import {
  UNATTENDED,
  type BudgetPeriod,
  type BudgetUnit,
  type BudgetWork,
  type LimitState,
} from "../contracts/budget.ts";

export type BudgetRules = Config["budget"];
/** The four limits that can be set for anybody. */
type LimitSet = BudgetRules["agents"][string];

/** What is added up together. */
export type Scope = "all" | "unattended" | `agent:${string}` | `principal:${string}` | `origin:${string}`;

export interface Amount {
  readonly usd: number;
  readonly tokens: number;
}

export type SpentIn = (scope: Scope, period: BudgetPeriod) => Amount;

/** What people read about it: whose limit it is. */
type Whose = "gateway" | "unattended" | "agent" | "person" | "origin";

export interface Limit extends LimitState {
  readonly whose: Whose;
}

type Decision = { readonly may: true } | { readonly may: false; readonly reached: Limit };

function isUnattended({ origin }: Pick<BudgetWork, "origin">): boolean {
  return UNATTENDED.includes(origin);
}

/** The first limit that is reached decides; months are looked at before days, because they last longer. */
export function decideBudget(work: BudgetWork, rules: BudgetRules, spent: SpentIn): Decision {
  const unattended = isUnattended(work);
  const reached = limitsOn(work, rules, spent).find(({ spent: used, max, unattendedMax }) =>
    reaches(used, unattended ? unattendedMax : max),
  );
  return reached ? { may: false, reached } : { may: true };
}

/** Sums of small amounts are a hair off what they should be. */
const HAIR = 1e-9;

export function reaches(spent: number, limit: number): boolean {
  return spent >= limit - HAIR;
}

/** Every limit that has something to say about this work. */
export function limitsOn(work: BudgetWork, rules: BudgetRules, spent: SpentIn): readonly Limit[] {
  const person = Object.hasOwn(rules.principals, work.principal) ? work.principal : "*";
  const sets: readonly LimitGroup[] = [
    { whose: "gateway", scope: "all", path: "", set: rules },
    ...(isUnattended(work) ? [unattendedGroup(rules)] : []),
    {
      whose: "agent",
      scope: `agent:${work.agentId}`,
      path: `agents.${work.agentId}.`,
      set: rules.agents[work.agentId],
    },
    {
      whose: "person",
      scope: `principal:${work.principal}`,
      path: `principals.${person}.`,
      set: rules.principals[person],
    },
    {
      whose: "origin",
      scope: `origin:${work.origin}`,
      path: `origins.${work.origin}.`,
      set: rules.origins[work.origin],
    },
  ];
  return limitsOf(sets, rules.unattendedShare, spent);
}

/** Every limit there is, except the one that holds for everybody else: that one has as many sums as there are people. */
export function allLimits(rules: BudgetRules, spent: SpentIn): readonly Limit[] {
  const named = (whose: "agent" | "person" | "origin", sets: Readonly<Partial<Record<string, LimitSet>>>) =>
    Object.entries(sets)
      .filter(([name]) => name !== "*")
      .map(([name, set]): LimitGroup => {
        const kind = whose === "person" ? "principal" : whose;
        return { whose, scope: `${kind}:${name}`, path: `${kind}s.${name}.`, set };
      });
  const sets: readonly LimitGroup[] = [
    { whose: "gateway", scope: "all", path: "", set: rules },
    unattendedGroup(rules),
    ...named("agent", rules.agents),
    ...named("person", rules.principals),
    ...named("origin", rules.origins),
  ];
  return limitsOf(sets, rules.unattendedShare, spent);
}

interface LimitGroup {
  readonly whose: Whose;
  readonly scope: Scope;
  readonly path: string;
  readonly set: LimitSet | undefined;
}

function unattendedGroup(rules: BudgetRules): LimitGroup {
  const set = {
    ...(rules.unattendedDailyUsd === undefined ? {} : { dailyUsd: rules.unattendedDailyUsd }),
    ...(rules.unattendedMonthlyUsd === undefined ? {} : { monthlyUsd: rules.unattendedMonthlyUsd }),
    ...(rules.unattendedDailyTokens === undefined ? {} : { dailyTokens: rules.unattendedDailyTokens }),
    ...(rules.unattendedMonthlyTokens === undefined ? {} : { monthlyTokens: rules.unattendedMonthlyTokens }),
  };
  return { whose: "unattended", scope: "unattended", path: "unattended", set };
}

const KEYS: readonly { readonly key: keyof LimitSet; readonly period: BudgetPeriod; readonly unit: BudgetUnit }[] = [
  { key: "monthlyUsd", period: "month", unit: "usd" },
  { key: "monthlyTokens", period: "month", unit: "tokens" },
  { key: "dailyUsd", period: "day", unit: "usd" },
  { key: "dailyTokens", period: "day", unit: "tokens" },
];

function limitsOf(groups: readonly LimitGroup[], share: number, spent: SpentIn): readonly Limit[] {
  return KEYS.flatMap(({ key, period, unit }) =>
    groups.flatMap(({ whose, scope, path, set }): readonly Limit[] => {
      const max = set?.[key];
      if (max === undefined) return [];
      const limit = whose === "unattended" ? `${path}${key.charAt(0).toUpperCase()}${key.slice(1)}` : `${path}${key}`;
      // A limit for one kind of work alone leaves nothing over for anybody else.
      const alone = whose === "unattended" || whose === "origin";
      return [
        {
          limit,
          whose,
          period,
          unit,
          spent: spent(scope, period)[unit],
          max,
          unattendedMax: alone ? max : max * share,
        },
      ];
    }),
  );
}
