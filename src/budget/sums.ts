/** What was spent today and this month, in memory: read once at the start, added to with every row, begun anew when the day does. */
import { UNATTENDED, type BudgetPeriod } from "../contracts/budget/budget.ts";
import type { Principal } from "../contracts/ids.ts";
import type { Spent, UsageScope, UsageSum } from "../contracts/store/usage.ts";
import type { Amount, Scope } from "./decide.ts";
import type { Today } from "./periods.ts";

/** People with a sum of their own; whoever comes after so many in one month shares one with all others who do. */
export const MAX_PEOPLE = 100_000;
const OTHERS = "principal:others" satisfies Scope;

export const NOTHING: UsageSum = { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };

export interface Sums {
  /** The day may have changed. A clock that goes back changes nothing. */
  roll(today: Today): void;
  /** What the store knew at the start. */
  load(period: BudgetPeriod, scopes: readonly UsageScope[]): void;
  add(spent: Spent): void;
  amount(scope: Scope, period: BudgetPeriod): Amount;
  of(principal: Principal | undefined, period: BudgetPeriod): UsageSum;
}

export function createSums(first: Today, maxPeople = MAX_PEOPLE): Sums {
  let today = first;
  const sums = { day: new Map<Scope, UsageSum>(), month: new Map<Scope, UsageSum>() };
  let people = 0;

  const keyOf = (wanted: Scope): Scope =>
    !wanted.startsWith("principal:") || sums.month.has(wanted) || people < maxPeople ? wanted : OTHERS;
  const put = (period: BudgetPeriod, { agentId, principal, origin }: Omit<UsageScope, "sum">, sum: UsageSum): void => {
    const person = keyOf(`principal:${principal}`);
    if (period === "month" && !sums.month.has(person)) people++;
    const scopes: readonly Scope[] = ["all", `agent:${agentId}`, `origin:${origin}`, person];
    for (const scope of UNATTENDED.includes(origin) ? [...scopes, "unattended" as const] : scopes)
      sums[period].set(scope, plus(sums[period].get(scope) ?? NOTHING, sum));
  };
  const of = (scope: Scope, period: BudgetPeriod): UsageSum => sums[period].get(keyOf(scope)) ?? NOTHING;

  return {
    roll(next) {
      if (next.day <= today.day) return;
      sums.day.clear();
      if (next.month !== today.month) {
        sums.month.clear();
        people = 0;
      }
      today = next;
    },
    load(period, scopes) {
      for (const { sum, ...scope } of scopes) put(period, scope, sum);
    },
    add(spent) {
      const { inputTokens, outputTokens, costUsd, cachedTokens = 0 } = spent.usage;
      const sum = { turns: 1, inputTokens, cachedTokens, outputTokens, costUsd };
      if (!spent.day.startsWith(today.month)) return; // of a month that is over
      put("month", spent, sum);
      if (spent.day === today.day) put("day", spent, sum);
    },
    amount(scope, period) {
      const { costUsd, inputTokens, outputTokens } = of(scope, period);
      return { usd: costUsd, tokens: inputTokens + outputTokens };
    },
    of: (principal, period) => of(principal === undefined ? "all" : `principal:${principal}`, period),
  };
}

function plus(a: UsageSum, b: UsageSum): UsageSum {
  return {
    turns: a.turns + b.turns,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}
