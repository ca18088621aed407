/** Warm spares: how many processes wait for whoever comes next, and how many are missing, among the processes of the default agent. Pure; the pool starts and ends them. */
import type { WorkerState } from "./worker-state.ts";

/**
 * Ready for anybody, or soon. A process that belongs to somebody is not a spare, however idle it is; unless people share (`shared`): then one
 * that has served is as good as a fresh one.
 */
export function countSpares(states: readonly WorkerState[], shared: boolean): number {
  return states.filter((state) => state.at === "starting" || isSpare(state, shared)).length;
}

export function isSpare(state: WorkerState, shared: boolean): boolean {
  return state.at === "idle" && (shared || state.served === null);
}

/** `alive` counts processes of every kind: spares never take a place that is not free. */
export function missingSpares(facts: {
  readonly spares: number;
  readonly alive: number;
  readonly min: number;
  readonly max: number;
}): number {
  return Math.max(0, Math.min(facts.min - facts.spares, facts.max - facts.alive));
}
