/** A budget without limits that counts nothing: for tests of everything else. */
import type { Budget } from "../contracts/budget.ts";

const NOTHING = { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };

export function freeBudget(): Budget {
  return {
    ask: () => ({ may: true }),
    bill: (work, what) => ({ ...what, ...work, day: "2026-01-01" }),
    spending: () => undefined,
    settle: () => undefined,
    countElsewhere: () => undefined,
    reload: async () => undefined,
    count: () => undefined,
    record: () => Promise.resolve(),
    used: () => ({ today: NOTHING, month: NOTHING }),
    limits: () => [],
    notices: () => [],
    today: () => ({ day: "2026-01-01", timezone: "UTC" }),
  };
}
