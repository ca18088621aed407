/** Finds pi below the processes that confine it. Nothing stands before a program that is not confined. Reads only. */
import { allProcesses, identify, type ProcessFacts, type ProcessIdentity } from "./proc.ts";

interface FoundProgram {
  readonly program: ProcessIdentity;
  /** From the one that was spawned down to the program's parent. */
  readonly wrappers: readonly ProcessIdentity[];
}

/** Null: it has not been started yet, has ended, or there is no /proc on this system. */
export type FindProgram = () => FoundProgram | null;

export function createProgramFinder(spawned: ProcessIdentity | null, wrappers: number): FindProgram {
  let found: FoundProgram | null = null;
  return () => {
    if (spawned === null || wrappers === 0) return spawned && { program: spawned, wrappers: [] };
    found ??= look(spawned, wrappers);
    return found;
  };
}

function look(spawned: ProcessIdentity, count: number): FoundProgram | null {
  const all = allProcesses();
  const above: ProcessIdentity[] = [];
  let at: ProcessIdentity | null = spawned;
  for (let level = 0; at !== null && level < count; level++) {
    above.push(at);
    at = firstChild(all, at.pid);
  }
  return at === null || identify(spawned.pid)?.startTime !== spawned.startTime
    ? null
    : { program: at, wrappers: above };
}

/** Orphans are handed to the last wrapper, so it may have others by now; all of them began later. */
function firstChild(all: readonly ProcessFacts[], parent: number): ProcessIdentity | null {
  const children = all.filter((one) => one.parent === parent && one.state !== "Z");
  const [first] = children.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid);
  return first ? { pid: first.pid, startTime: first.startTime } : null;
}
