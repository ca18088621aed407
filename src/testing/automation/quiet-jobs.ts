/** Rules and reports that stand in nobody's way: for tests of jobs that are about something else. */
import type { Clock } from "../../kit/clock.ts";
import { testPersonTimes } from "./person-times.ts";

/** Every agent is known, nothing is missing, and there are no limits. */
export function noJobRules(clock: Clock) {
  return {
    changed: () => undefined,
    isOn: () => true,
    isAgent: () => true,
    limits: () => ({ minInterval: 0, maxJobs: Infinity }),
    missing: async () => null,
    people: testPersonTimes(clock),
  };
}

export const NO_REPORTS = {
  told: () => undefined,
  tellOwner: async () => undefined,
  pruneSessions: async () => undefined,
};

/** A starter whose runs begin and do not end by themselves. */
export const ENDLESS_RUNS = {
  unpaid: () => null,
  check: async () => null,
  start: async () => ({ kind: "begun" as const }),
};
