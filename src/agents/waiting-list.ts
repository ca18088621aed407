/** Requests that wait for a process: highest priority first, oldest first among equals, and waiting raises the priority. Each leaves exactly once: served, aborted, failed, or told after `waitMs` that all are busy. */
import type { AgentLease, LeaseRequest } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";

/** Who waits this long rises by one, so that a stream of more important requests holds nobody back for ever. */
const RISE_EVERY_MS = 10_000;

export interface Waiter {
  readonly request: LeaseRequest;
  readonly joinedAt: number;
  /** How often its process died before it could be used. */
  reopens: number;
  /** Somebody waits. */
  isOpen(): boolean;
  /** False when nobody waits any more. */
  take(lease: AgentLease): boolean;
  fail(error: unknown): void;
}

export interface WaitingList {
  join(request: LeaseRequest, signal: AbortSignal): Promise<AgentLease>;
  /** In the order in which they are to be served now. */
  all(): readonly Waiter[];
  /** A process was found for it; whether it gets it is decided later. */
  leave(waiter: Waiter): void;
  /** Back to its place, before those who came later. Not when nobody waits any more: what it asked for may be out of date by then. */
  rejoin(waiter: Waiter): void;
  /** All of them, or those that `which` names. */
  failAll(error: unknown, which?: (waiter: Waiter) => boolean): void;
  size(): number;
}

export function createWaitingList(clock: Clock, waitMs: number): WaitingList {
  let line: Waiter[] = [];
  const leave = (waiter: Waiter): void => {
    line = line.filter((one) => one !== waiter);
  };

  return {
    async join(request, signal) {
      const result = deferred<AgentLease>();
      let open = true;
      const waiter: Waiter = {
        request,
        joinedAt: clock.elapsed(),
        reopens: 0,
        isOpen: () => open,
        take(lease) {
          if (!open) return false;
          open = false;
          result.resolve(lease);
          return true;
        },
        fail(error) {
          open = false;
          leave(waiter);
          result.reject(error);
        },
      };
      line = [...line, waiter];
      using limit = clock.deadline(
        waitMs,
        () => new GatewayError("pool_exhausted", `no process was free within ${waitMs} ms`),
      );
      const give = AbortSignal.any([signal, limit.signal]);
      const giveUp = () => waiter.fail(give.reason);
      give.addEventListener("abort", giveUp, { once: true });
      try {
        return await result.promise;
      } finally {
        give.removeEventListener("abort", giveUp);
      }
    },
    all: () => inOrder(line, clock.elapsed()),
    leave,
    rejoin(waiter) {
      if (!waiter.isOpen()) return;
      waiter.reopens++;
      line = [waiter, ...line];
    },
    failAll(error, which = () => true) {
      for (const waiter of line.filter(which)) waiter.fail(error);
    },
    size: () => line.length,
  };
}

function inOrder(line: readonly Waiter[], now: number): readonly Waiter[] {
  const rank = ({ request, joinedAt }: Waiter) =>
    (request.priority ?? 0) + Math.floor((now - joinedAt) / RISE_EVERY_MS);
  return line.toSorted((one, other) => rank(other) - rank(one) || one.joinedAt - other.joinedAt);
}

/**
 * Who asks another agent holds a process while it waits for one. That could go on for ever when every process serves a turn that waits for a
 * delegated one; as long as one does not, its turn ends some time, and the next in line is served. `busy`: what every process there may be is
 * leased for. Null: somebody will be done; else the delegation that has to give way, the newest.
 */
export function stuckDelegation<W extends Pick<Waiter, "request" | "joinedAt">>(
  busy: readonly LeaseRequest[],
  waiting: readonly W[],
): W | null {
  const asked = [...busy, ...waiting.map(({ request }) => request)];
  const held = new Set(asked.flatMap(({ delegatedBy }) => (delegatedBy === undefined ? [] : [delegatedBy])));
  if (busy.some(({ caller }) => !held.has(caller.turnId))) return null;
  const delegated = waiting.filter(({ request }) => request.delegatedBy !== undefined);
  return delegated.toSorted((a, b) => b.joinedAt - a.joinedAt)[0] ?? null;
}
