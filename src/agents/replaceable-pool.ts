/**
 * A pool that can be exchanged while it is in use: new leases come from the new pool at once, running ones finish in the old pool, which
 * is stopped when its last lease ends. The new pool is built before the old one is let go.
 */
import type { AgentLease, AgentPool } from "../contracts/agent.ts";
import type { Log } from "../kit/log.ts";

export interface ReplaceablePool extends AgentPool {
  replace(next: AgentPool): void;
}

interface Generation {
  readonly pool: AgentPool;
  inUse: number;
  retired: boolean;
}

export function createReplaceablePool(deps: { readonly log: Log }, first: AgentPool): ReplaceablePool {
  let current: Generation = { pool: first, inUse: 0, retired: false };
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
    if (generation.retired && generation.inUse === 0) end(generation);
  };

  return {
    async lease(request, signal) {
      const generation = current;
      generation.inUse++;
      try {
        const lease = await generation.pool.lease(request, signal);
        return counted(lease, () => giveBack(generation));
      } catch (error) {
        giveBack(generation);
        throw error;
      }
    },
    stats: () => current.pool.stats(),
    replace(next) {
      const before = current;
      current = { pool: next, inUse: 0, retired: false };
      before.retired = true;
      old.add(before);
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
    pid: lease.pid,
    prompt: (input, signal) => lease.prompt(input, signal),
    settledBytes: () => lease.settledBytes(),
    async [Symbol.asyncDispose]() {
      try {
        await lease[Symbol.asyncDispose]();
      } finally {
        ended();
      }
    },
  };
}
