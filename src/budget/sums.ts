/** What was spent today and this month, in memory: read once at the start, added to with every row, begun anew when the day does. */
import { UNATTENDED, type BudgetPeriod } from "../contracts/budget.ts";
import type { Principal } from "../contracts/ids.ts";
import type { Spent, UsageBy, UsageItem, UsageSum } from "../contracts/store/usage.ts";
import type { Amount, Scope } from "./decide.ts";
import type { Today } from "./periods.ts";

/** People with a sum of their own; whoever comes after so many in one month shares one with all others who do. */
const MAX_PEOPLE = 100_000;
const OTHERS = "principal:others" satisfies Scope;

const NOTHING: UsageSum = { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };

/** What a budget can be set for; the rest follows from the origins. */
export const LOADED_BY = ["agent", "principal", "origin"] as const satisfies readonly UsageBy[];
type LoadedBy = (typeof LOADED_BY)[number];

export interface Sums {
  /** The day may have changed. A clock that goes back changes nothing. */
  roll(today: Today): void;
  /** What the store knew at the start. */
  load(period: BudgetPeriod, by: LoadedBy, items: readonly UsageItem[]): void;
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
  const put = (period: BudgetPeriod, scope: Scope, sum: UsageSum): void => {
    const key = keyOf(scope);
    if (period === "month" && key.startsWith("principal:") && !sums.month.has(key)) people++;
    sums[period].set(key, plus(sums[period].get(key) ?? NOTHING, sum));
  };
  const putOrigin = (period: BudgetPeriod, origin: string, sum: UsageSum): void => {
    for (const scope of ["all", `origin:${origin}`] as const) put(period, scope, sum);
    if (UNATTENDED.some((one) => one === origin)) put(period, "unattended", sum);
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
    load(period, by, items) {
      for (const { key, ...sum } of items) {
        if (by === "origin") putOrigin(period, key, sum);
        else put(period, `${by}:${key}`, sum);
      }
    },
    add(spent) {
      const { inputTokens, outputTokens, costUsd, cachedTokens = 0 } = spent.usage;
      const sum = { turns: 1, inputTokens, cachedTokens, outputTokens, costUsd };
      if (!spent.day.startsWith(today.month)) return; // of a month that is over
      for (const period of spent.day === today.day ? (["month", "day"] as const) : (["month"] as const)) {
        put(period, `agent:${spent.agentId}`, sum);
        put(period, `principal:${spent.principal}`, sum);
        putOrigin(period, spent.origin, sum);
      }
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
