/**
 * A pool that can be exchanged while it is in use: new leases come from the new pool at once, requests that still wait move over to it,
 * running turns finish in the old pool, which is stopped when its last lease ends. The new pool is built before the old one is let go.
 */
import type { AgentLease, AgentPool } from "../contracts/agent.ts";
import type { Log } from "../kit/log.ts";

export interface ReplaceablePool extends AgentPool {
  replace(next: AgentPool): void;
}

interface Generation {
  readonly pool: AgentPool;
  inUse: number;
  /** Aborted when another pool has taken its place. */
  readonly retired: AbortController;
}

const generationOf = (pool: AgentPool): Generation => ({ pool, inUse: 0, retired: new AbortController() });

export function createReplaceablePool(deps: { readonly log: Log }, first: AgentPool): ReplaceablePool {
  let current = generationOf(first);
  const ending = new Set<Promise<void>>();
  const old = new Set<Generation>();

  const end = (generation: Generation): void => {
    old.delete(generation);
    const stopped: Promise<void> = Promise.resolve(generation.pool[Symbol.asyncDispose]())
      .catch((error: unknown) => deps.log.error("old agent pool did not stop cleanly", { error }))
      .finally(() => ending.delete(stopped));
    ending.add(stopped);
  };

  const giveBack = (generation: Generation): void => {
    generation.inUse--;
    if (generation.retired.signal.aborted && generation.inUse === 0) end(generation);
  };

  /** A process that starts for the old pool would find the settings of the new one, so nobody waits there any longer. */
  const lease: AgentPool["lease"] = async (request, signal) => {
    const generation = current;
    const { signal: retired } = generation.retired;
    generation.inUse++;
    try {
      const made = await generation.pool.lease(request, AbortSignal.any([signal, retired]));
      return counted(made, () => giveBack(generation));
    } catch (error) {
      giveBack(generation);
      if (!retired.aborted || signal.aborted || generation === current) throw error;
    }
    return lease(request, signal);
  };

  return {
    lease,
    stats: () => current.pool.stats(),
    processes: () => [...old, current].flatMap(({ pool }) => pool.processes()),
    hasOpen: (sessionKey) => current.pool.hasOpen(sessionKey),
    prepare: (request, signal) => current.pool.prepare(request, signal),
    models: (asked, signal) => current.pool.models(asked, signal),
    replace(next) {
      const before = current;
      current = generationOf(next);
      old.add(before);
      before.retired.abort(new Error("another pool has taken its place"));
      if (before.inUse === 0) end(before);
    },
    async [Symbol.asyncDispose]() {
      for (const generation of old) end(generation);
      await Promise.all([...ending, current.pool[Symbol.asyncDispose]()]);
    },
  };
}

function counted(lease: AgentLease, ended: () => void): AgentLease {
  return {
    ...lease, // everything a lease has or will have
    async [Symbol.asyncDispose]() {
      try {
        await lease[Symbol.asyncDispose]();
      } finally {
        ended();
      }
    },
  };
}
