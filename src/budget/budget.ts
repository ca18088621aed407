/**
 * The usage ledger in use: what may begin is decided from sums in memory, what was paid for goes to the store and into the sums. The owner is told
 * once when a limit is reached; that this has been said is known to whoever says it, so a restart does not say it again.
 */
import type { Budget } from "../contracts/budget.ts";
import type { Spent, UsageStore } from "../contracts/store/usage.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import {
  allLimits,
  type Amount,
  type BudgetRules,
  decideBudget,
  type Limit,
  limitsOn,
  reaches,
  type SpentIn,
} from "./decide.ts";
import { createCalendar, firstOfMonth, type Today } from "./periods.ts";
import { createSums, LOADED_BY, type Sums } from "./sums.ts";
import { createUnderWay } from "./under-way.ts";
import { type Level, ownerText, recordText, refusalText } from "./messages.ts";

interface BudgetDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<UsageStore, "record" | "sums">;
  /** Says something to the owner. Said again under the same id, it is said once. */
  tell(id: string, text: string): Promise<void>;
  /** Tells other gateways what was spent here. Absent: there are none. */
  spread?(spent: Spent): void;
}

interface BudgetOptions {
  /** Default: that of the machine. */
  readonly timezone?: string;
  /** Asked each time, so that a changed configuration holds at once. */
  readonly rules: () => BudgetRules;
}

export async function openBudget(deps: BudgetDeps, options: BudgetOptions): Promise<Budget> {
  const { clock, log, store } = deps;
  const { rules } = options;
  const calendar = createCalendar(options.timezone);
  const { timezone } = calendar;
  const sums = await openSums(store, () => calendar.at(clock.now()));
  const { now } = sums;
  const underWay = createUnderWay();
  const soFar: SpentIn = (scope, period) => plus(sums.amount(scope, period), underWay.amount(scope));
  const every = () => allLimits(rules(), sums.amount);
  const tell = createTelling(deps, (limit, level) => ownerText(limit, level, { today: now(), timezone: timezone() }));

  const count = (spent: Spent): void => {
    const today = now();
    underWay.settle(spent.id);
    sums.add(spent);
    deps.spread?.(spent);
    for (const limit of limitsOn(spent, rules(), sums.amount)) tell(limit, levelOf(limit), today);
  };

  return {
    ask(work) {
      const today = now();
      const decision = decideBudget(work, rules(), soFar);
      if (decision.may) return decision;
      const { reached } = decision;
      tell(reached, levelOf(reached), today);
      const world = { today, timezone: timezone() };
      const say = refusalText(reached, work, world);
      return { may: false, reached, say, because: recordText(reached, work, world) };
    },
    bill: ({ agentId, principal, origin }, what) => ({ ...what, day: now().day, agentId, principal, origin }),
    spending: underWay.add,
    settle: underWay.settle,
    count,
    countElsewhere(spent) {
      now();
      sums.add(spent); // the owner is told by the gateway that spent it
    },
    reload: sums.reload,
    async record(spent) {
      underWay.settle(spent.id);
      if (spent.usage.inputTokens + spent.usage.outputTokens <= 0 && spent.usage.costUsd <= 0) return;
      try {
        if (!(await store.record(spent))) return;
      } catch (error) {
        log.error("usage could not be written down", { id: spent.id, error });
      }
      count(spent);
    },
    used(principal) {
      now();
      return { today: sums.of(principal, "day"), month: sums.of(principal, "month") };
    },
    limits() {
      now();
      return every().map(({ whose: _whose, ...state }) => state);
    },
    notices() {
      const world = { today: now(), timezone: timezone() };
      return every().flatMap((limit) => {
        const level = levelOf(limit);
        return level ? [ownerText(limit, level, world)] : [];
      });
    },
    today: () => ({ day: now().day, timezone: timezone() }),
  };
}

function plus(ended: Amount, running: Amount): Amount {
  return { usd: ended.usd + running.usd, tokens: ended.tokens + running.tokens };
}

/** The sums of today and this month. They can be read anew. */
async function openSums(store: BudgetDeps["store"], today: () => Today) {
  let sums = await loadSums(store, today());
  const now = (): Today => {
    const day = today();
    sums.roll(day);
    return day;
  };
  return {
    /** Today; what is of yesterday is over. */
    now,
    amount: (...asked: Parameters<Sums["amount"]>) => sums.amount(...asked),
    of: (...asked: Parameters<Sums["of"]>) => sums.of(...asked),
    add: (spent: Spent) => sums.add(spent),
    async reload(): Promise<void> {
      sums = await loadSums(store, now());
    },
  };
}

async function loadSums(store: BudgetDeps["store"], today: Today): Promise<Sums> {
  const sums = createSums(today);
  for (const by of LOADED_BY) {
    sums.load("month", by, await store.sums({ by, from: firstOfMonth(today.month), to: today.day }));
    sums.load("day", by, await store.sums({ by, from: today.day, to: today.day }));
  }
  return sums;
}

/** Once for each limit, level and period; what could not be said is said at the next look. */
function createTelling({ log, tell }: BudgetDeps, textOf: (limit: Limit, level: Level) => string) {
  let told: { readonly day: string; readonly ids: Set<string> } = { day: "", ids: new Set() };
  return (limit: Limit, level: Level | null, { day, month }: Today): void => {
    if (level === null) return;
    if (told.day !== day) told = { day, ids: new Set() };
    const { ids } = told;
    const id = `budget-${limit.limit}-${level}-${limit.period === "day" ? day : month}`;
    if (ids.has(id)) return;
    ids.add(id);
    log.warn("budget reached", { limit: limit.limit, level, spent: limit.spent, max: limit.max });
    void tell(id, textOf(limit, level)).catch((error: unknown) => {
      ids.delete(id);
      log.error("owner could not be told about a budget", { limit: limit.limit, error });
    });
  };
}

function levelOf({ spent, max, unattendedMax }: Limit): Level | null {
  if (reaches(spent, max)) return "used_up";
  return reaches(spent, unattendedMax) ? "paused" : null;
}
