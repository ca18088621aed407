/**
 * `npm test -- --costs`: what each test file costs, in seconds of processors, with everything it started. A control group of its own counts processes
 * that were killed and those that left their parents, such as agents and browsers; the parent's own count leaves both out. Needs Linux and the right
 * to make such a group; changes no limit of anybody.
 */
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** Lines of the table. */
const MAX_COSTLY = 40;

export interface CostMeter extends Disposable {
  /** A group for the processes of one test file. */
  open(): CostGroup;
}

interface CostGroup extends Disposable {
  /** The same command, run as a member of this group. */
  inGroup(command: readonly string[]): readonly string[];
  processorMs(): number;
}

export interface FileCost {
  readonly file: string;
  readonly processorMs: number;
}

/** Null where this machine makes no control groups for us. */
export function openCostMeter(): CostMeter | null {
  const own = ownGroup();
  if (own === null) return null;
  const folder = join(own, `pi-gateway-tests-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
  } catch {
    return null; // not ours to write
  }
  let count = 0;
  return {
    open: () => openGroup(join(folder, String(++count))),
    [Symbol.dispose]: () => remove(folder),
  };
}

function openGroup(folder: string): CostGroup {
  mkdirSync(folder);
  return {
    // the shell enters the group before it becomes the command, so that nothing of it is outside
    inGroup: (command) => ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(folder, "cgroup.procs"), ...command],
    processorMs() {
      const stat = readFileSync(join(folder, "cpu.stat"), "utf8");
      return Number(/^usage_usec (\d+)$/m.exec(stat)?.[1] ?? 0) / 1_000;
    },
    [Symbol.dispose]: () => remove(folder),
  };
}

/** The folder of the control group that this process is in; null without version 2 of control groups. */
function ownGroup(): string | null {
  try {
    const mount = /^(?:\S+ ){4}(\S+) .*- cgroup2 /m.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.[1];
    const path = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
    return mount === undefined || path === undefined ? null : join(mount, path);
  } catch {
    return null; // no /proc on this system
  }
}

function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // something in it still runs: the group is empty and costs nothing when that has ended
  }
}

/** The costliest files first. */
export function costTable(costs: readonly FileCost[]): readonly string[] {
  const sorted = costs.toSorted((a, b) => b.processorMs - a.processorMs);
  return sorted
    .slice(0, MAX_COSTLY)
    .map(({ file, processorMs }) => `${(processorMs / 1_000).toFixed(1).padStart(6)} s  ${file}`);
}
