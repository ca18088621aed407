/** Warm spares: how many processes wait for whoever comes next, and how many are missing. Pure; the pool starts and ends them. */
import type { WorkerState } from "./worker-state.ts";

export interface SpareFacts {
  /** Of the default agent's kind. */
  readonly states: readonly WorkerState[];
  /** Of those that are starting: how many somebody waits for. */
  readonly claimed: number;
  /** True: a process may serve several people, so one that has served is as good as a fresh one. */
  readonly shared: boolean;
}

/** Ready for anybody, or soon. A process that belongs to somebody is not a spare, however idle it is. */
export function countSpares({ states, claimed, shared }: SpareFacts): number {
  const ready = states.filter((state) => isSpare(state, shared)).length;
  const starting = states.filter(({ at }) => at === "starting").length;
  return ready + Math.max(0, starting - claimed);
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
