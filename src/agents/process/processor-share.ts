/**
 * Takes one processor away from the programs of an agent when so many of them run that the gateway would have to wait for one. The kernel
 * shares processor time between sessions, and a program can begin as many as it likes, so no priority holds it back. Programs that wait do not
 * count: a build with a few running ones keeps all processors. Programs in the sandbox cannot undo it, and what they start inherits it.
 */
import type { Clock } from "../../kit/clock.ts";
import { type Affinity, openAffinity } from "./affinity.ts";
import { runnableThreads, type ProcessFacts, type ProcessThread, threadsOf } from "./proc.ts";

export interface ProcessorShare {
  /** Counts what runs, and holds it back when that is too much. Cheap as long as the machine has little to do. Returns after how many milliseconds to look again. */
  look(): number;
  /** The turn is over: pi itself has all processors again. */
  end(): void;
}

interface ShareDeps {
  readonly affinity: Affinity;
  /** pi; null: it is not known yet. */
  readonly program: () => number | null;
  /** pi and all that it started. */
  readonly family: () => readonly ProcessFacts[];
  /** Of the whole machine. */
  readonly runnableThreads: () => number;
  readonly threadsOf: (pid: number) => readonly ProcessThread[];
  readonly clock: Pick<Clock, "elapsed">;
}

/** From here on the sandbox leaves one free from the start (src/sandbox/launcher/processors.ts). */
const ENOUGH_PROCESSORS = 4;
/** Running programs on each processor from which on they are too many. Builds and tests run a few more than there are processors. */
const MANY = 4;
const THIS_THREAD = 0;
/** Three hundred programs can start within a few of these pauses. */
const LOOK_MS = 50;
/** While others keep the machine busy, looking may take a twentieth of the time. */
const PAUSE_FACTOR = 20;
const LONGEST_PAUSE_MS = 250;
/** Programs that are held back hand that on to what they start, so only one that began in the same moment can have been missed. */
const LOOK_AGAIN_MS = 1_000;
/** Programs may begin while others are held back. */
const MOST_ROUNDS = 4;

/** Which processors are left to an agent that has too many programs; null: it keeps what it has. Interrupts are usually served by the first. Pure. */
export function processorsLeft(all: readonly number[], wanted: number | undefined): readonly number[] | null {
  if (wanted !== undefined) return null; // somebody has decided
  return all.length > 1 && all.length < ENOUGH_PROCESSORS ? all.slice(1) : null;
}

/** Null: there is nothing to take away, or somebody has decided otherwise (`cpus`), or this system has no such thing. */
export function openProcessorShare(
  { clock, program, family }: Pick<ShareDeps, "clock" | "program" | "family">,
  cpus: number | undefined,
): ProcessorShare | null {
  const affinity = openAffinity();
  const all = affinity?.get(THIS_THREAD) ?? [];
  const left = processorsLeft(all, cpus);
  return (
    affinity &&
    left &&
    createProcessorShare({ clock, program, family, affinity, runnableThreads, threadsOf }, all, left)
  );
}

/** `left`: the processors of an agent with too many programs. */
export function createProcessorShare(
  { affinity, program, family, runnableThreads, threadsOf, clock }: ShareDeps,
  all: readonly number[],
  left: readonly number[],
): ProcessorShare {
  const most = all.length * MANY;
  /** By process and start; each is held back once. */
  const held = new Set<string>();
  const hold = (processes: readonly ProcessFacts[]): number => {
    const fresh = processes.filter((one) => !held.has(nameOf(one)));
    for (const one of fresh) {
      for (const { id } of threadsIn(one, threadsOf)) affinity.set(id, left);
      held.add(nameOf(one));
    }
    return fresh.length;
  };
  /** The first ones first: what they start from then on is held back by itself. */
  const oldestFirst = (): readonly ProcessFacts[] =>
    family().toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
  return {
    look() {
      if (held.size === 0 && runnableThreads() <= most) return LOOK_MS;
      const began = clock.elapsed();
      const found = oldestFirst();
      if (held.size === 0 && !isCrowd(found, threadsOf, most)) return pauseAfter(clock.elapsed() - began);
      hold(found);
      for (let round = 0; round < MOST_ROUNDS && hold(oldestFirst()) > 0; round++);
      return LOOK_AGAIN_MS;
    },
    end() {
      if (held.size === 0) return;
      held.clear();
      const pid = program();
      if (pid === null) return;
      for (const { id } of threadsOf(pid)) affinity.set(id, all);
    },
  };
}

function pauseAfter(tookMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(LOOK_MS, tookMs * PAUSE_FACTOR));
}

function isCrowd(processes: readonly ProcessFacts[], threadsOf: ShareDeps["threadsOf"], most: number): boolean {
  let running = 0;
  for (const one of processes) {
    running += threadsIn(one, threadsOf).filter((thread) => thread.running).length;
    if (running > most) return true;
  }
  return false;
}

/** Most programs have one, and that one is known already. */
function threadsIn(one: ProcessFacts, threadsOf: ShareDeps["threadsOf"]): readonly ProcessThread[] {
  return one.threads === 1 ? [{ id: one.pid, running: one.state === "R" }] : threadsOf(one.pid);
}

function nameOf({ pid, startTime }: ProcessFacts): string {
  return `${pid} ${startTime}`;
}
