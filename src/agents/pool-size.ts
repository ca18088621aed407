/** How many agent processes a machine can hold, when the settings do not say. Pure; `measureMachine` looks. */
import { availableParallelism, freemem } from "node:os";

export interface Machine {
  /** What programs can still take without swapping, within the limit of a container. */
  readonly freeMb: number;
  readonly cores: number;
}

export interface PoolSize {
  readonly max: number;
  readonly because: string;
}

/** An idle process takes about 90; the rest is room to grow in a long conversation. */
const PROCESS_MB = 100;
/** The other half is for the system, for what agents start, and for the gateway. */
const SHARE = 0.5;
/** A turn mostly waits for its model, so a core serves many; more than this would wait for the core instead. */
const PER_CORE = 16;
/** Fewer than two, and an agent could not ask another one. */
const LEAST = 2;
const MOST = 64;
/** Less than room for four more processes: then a process that has grown large is worth its replacement. */
const SCARCE_MB = 4 * PROCESS_MB;
const MB_BYTES = 1_048_576;

export function measureMachine(): Machine {
  const limit = process.constrainedMemory(); // 0, or beyond all memory: there is none
  const used = process.memoryUsage.rss();
  const free = limit > 0 ? Math.min(freemem(), Math.max(0, limit - used)) : freemem();
  return { freeMb: Math.floor(free / MB_BYTES), cores: availableParallelism() };
}

export function isMemoryScarce({ freeMb }: Machine): boolean {
  return freeMb < SCARCE_MB;
}

/** `set`: what the settings say. */
export function poolSize(set: number | undefined, { freeMb, cores }: Machine): PoolSize {
  if (set !== undefined) return { max: set, because: "agent.pool.max says so" };
  const byMemory = Math.floor((freeMb * SHARE) / PROCESS_MB);
  const byCores = cores * PER_CORE;
  const max = Math.max(LEAST, Math.min(byMemory, byCores, MOST));
  const facts = `${(freeMb / 1_024).toFixed(1)} GB of memory were free at the start, with ${cores} ${cores === 1 ? "core" : "cores"}`;
  return { max, because: facts };
}
