/**
 * The books in use: what may begin is decided from sums in memory, what was paid for goes to the store and into the sums. The owner is told
 * once when a limit is reached; that this has been said is known to whoever says it, so a restart does not say it again.
 */
import type { Budget, BudgetWork } from "../contracts/budget/budget.ts";
import type { Spent, UsageStore } from "../contracts/store/usage.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { allLimits, type BudgetRules, decideBudget, type Limit, limitsOn, reaches } from "./decide.ts";
import { createCalendar, daysBefore, firstOfMonth, type Today } from "./periods.ts";
import { createSums } from "./sums.ts";
import { ownerWords, recordWords, refusalWords } from "./words.ts";

export interface BudgetDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<UsageStore, "record" | "scopes" | "prune">;
  /** Says something to the owner. Said again under the same id, it is said once. */
  tell(id: string, text: string): Promise<void>;
}

export interface BudgetOptions {
  readonly timezone: string;
  /** Asked each time, so that a changed configuration holds at once. */
  readonly rules: () => BudgetRules;
}

/** Two years and a bit: a year can be compared with the one before. */
const KEEP_DAYS = 800;

export async function openBudget(deps: BudgetDeps, { timezone, rules }: BudgetOptions): Promise<Budget> {
  const { clock, log, store } = deps;
  const calendar = createCalendar(timezone);
  const today = (): Today => calendar.at(clock.now());
  const first = today();
  const sums = createSums(first);
  await store.prune(daysBefore(first.day, KEEP_DAYS));
  sums.load("month", await store.scopes({ from: firstOfMonth(first.month), to: first.day }));
  sums.load("day", await store.scopes({ from: first.day, to: first.day }));

  const told = new Set<string>();
  const now = (): Today => {
    const current = today();
    sums.roll(current);
    return current;
  };
  const tell = (limit: Limit, level: "paused" | "used_up", current: Today): void => {
    const id = `budget-${limit.limit}-${level}-${limit.period === "day" ? current.day : current.month}`;
    if (told.has(id)) return;
    told.add(id);
    log.warn("budget reached", { limit: limit.limit, level, spent: limit.spent, max: limit.max });
    void deps.tell(id, ownerWords(limit, level, { today: current, timezone })).catch((error: unknown) => {
      told.delete(id); // the next look tries again
      log.error("owner could not be told about a budget", { limit: limit.limit, error });
    });
  };
  const look = (work: BudgetWork): void => {
    const current = now();
    for (const limit of limitsOn(work, rules(), sums.amount)) {
      const level = levelOf(limit);
      if (level) tell(limit, level, current);
    }
  };
  const count = (spent: Spent): void => {
    now();
    sums.add(spent);
    look(spent);
  };

  return {
    ask(work) {
      const current = now();
      const decision = decideBudget(work, rules(), sums.amount);
      if (decision.may) return decision;
      const { reached } = decision;
      tell(reached, levelOf(reached) ?? "used_up", current);
      const world = { today: current, timezone };
      return {
        may: false,
        reached,
        say: refusalWords(reached, work, world),
        because: recordWords(reached, work, world),
      };
    },
    bill: ({ agentId, principal, origin }, what) => ({ ...what, day: now().day, agentId, principal, origin }),
    count,
    async record(spent) {
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
      return allLimits(rules(), sums.amount).map(({ whose: _whose, ...state }) => state);
    },
    notices() {
      const world = { today: now(), timezone };
      return allLimits(rules(), sums.amount).flatMap((limit) => {
        const level = levelOf(limit);
        return level ? [ownerWords(limit, level, world)] : [];
      });
    },
    today: () => ({ day: now().day, timezone }),
  };
}

function levelOf({ spent, max, unattendedMax }: Limit): "paused" | "used_up" | null {
  if (reaches(spent, max)) return "used_up";
  return reaches(spent, unattendedMax) ? "paused" : null;
}
