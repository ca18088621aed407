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

/** How many spares are worth their memory, with the reason. `personal`: each person has a working folder of their own. */
export function usefulSpares({ min, personal }: { readonly min: number; readonly personal: boolean }): {
  readonly count: number;
  readonly because: string;
} {
  if (!personal) return { count: min, because: "agent.pool.min asks for them" };
  // its wall is built at its start, around one folder: one that belongs to nobody could serve nobody
  return { count: 0, because: "a process that is ready cannot know in whose folder it will work" };
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

/**
 * A process that was used within this time keeps its place: conversations that go on would lose their processes one after the other, and each
 * turn would open its session again in another one, beside a start.
 */
const IDLE_BEFORE_GIVING_WAY_MS = 2_000;

type PlaceForSpare =
  | { readonly kind: "give_way"; readonly worker: number }
  /** All idle processes were used a moment ago. */
  | { readonly kind: "later"; readonly inMs: number }
  /** A spare is there, or there is room for one, or no process is idle. */
  | { readonly kind: "none" };

/**
 * The process that gives way, so that a fresh one is ready also when the pool is full: the one that has been idle longest. Its person pays with
 * the opening of their session, and nobody with a start. A pool of one is left to who uses it.
 */
export function placeForSpare(facts: {
  readonly spares: number;
  readonly alive: number;
  readonly min: number;
  readonly max: number;
  readonly now: number;
  readonly idle: readonly { readonly id: number; readonly since: number }[];
}): PlaceForSpare {
  if (facts.min === 0 || facts.spares > 0 || facts.alive < facts.max || facts.max < 2) return { kind: "none" };
  const [longest] = facts.idle.toSorted((a, b) => a.since - b.since);
  if (!longest) return { kind: "none" };
  const inMs = longest.since + IDLE_BEFORE_GIVING_WAY_MS - facts.now;
  return inMs > 0 ? { kind: "later", inMs } : { kind: "give_way", worker: longest.id };
}
