/**
 * Limits for all processes of an agent together, by cgroups (version 2), where the gateway was given one of its own: memory, number of processes,
 * weight among those that want a processor. Where it was not, nothing is changed and the reason is told. One cgroup for each agent process; all that
 * is in it ends with it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramLimits } from "../contracts/sandbox.ts";
import { cgroupPlace, OWN_PART, strangerIn } from "./cgroup-place.ts";

export interface AgentCgroups {
  /** Memory is limited. Where the machine keeps that to itself, only the rest is. */
  readonly limitsMemory: boolean;
  /** Null: it could not be made, and the limits of single processes have to do. */
  make(name: string, limits: ProgramLimits): AgentCgroup | null;
}

interface AgentCgroup {
  /** The launcher puts itself into it. */
  readonly path: string;
  /** Ends everything in it. What the kernel still counts there is removed before the next one is made. */
  release(): void;
}

const CONTROLLERS = ["memory", "pids", "cpu"];
const PREFIX = "agent-";
const MB = 1024 * 1024;
/** The gateway has 100. */
const AGENT_WEIGHT = 20;

/** A sentence: why there are none. */
export function openCgroups(): AgentCgroups | string {
  try {
    const place = cgroupPlace({ self: read("/proc/self/cgroup"), mounts: read("/proc/self/mounts") });
    return "because" in place ? place.because : takeOver(place.folder, process.pid);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `pid`: of the gateway. */
export function takeOver(folder: string, pid: number): AgentCgroups | string {
  if (!existsSync(join(folder, "cgroup.events"))) return "the gateway is in the cgroup of the whole machine";
  const inside = processesIn(folder);
  const stranger = strangerIn(inside, withAncestors(pid));
  if (stranger !== null) return `process ${stranger}, which is not the gateway's, is in its cgroup`;
  const own = join(folder, OWN_PART);
  mkdirSync(own, { recursive: true });
  for (const one of inside) writeFileSync(join(own, "cgroup.procs"), String(one));
  const enabled = CONTROLLERS.filter((name) => wrote(join(folder, "cgroup.subtree_control"), `+${name}`));
  if (enabled.length === 0) return "the gateway's cgroup was given no controllers";
  return agentCgroups(folder, enabled.includes("memory"));
}

/** `makeFolder`: in the kernel's own file system the files are there at once. */
export function agentCgroups(
  folder: string,
  limitsMemory: boolean,
  makeFolder: (path: string) => void = mkdirSync,
): AgentCgroups {
  return {
    limitsMemory,
    make(name, { memoryMb, processes }) {
      removeEmpty(folder);
      const path = join(folder, `${PREFIX}${name}`);
      try {
        makeFolder(path);
      } catch {
        return null; // too many already, or the folder is not ours any more
      }
      // each as far as its controller was given
      wrote(join(path, "memory.max"), String(memoryMb * MB));
      wrote(join(path, "memory.swap.max"), "0");
      wrote(join(path, "pids.max"), String(processes));
      wrote(join(path, "cpu.weight"), String(AGENT_WEIGHT));
      const release = (): void => {
        wrote(join(path, "cgroup.kill"), "1");
        removeEmpty(folder);
      };
      return { path, release };
    },
  };
}

/** Those of agents that have ended, of this gateway or one before it. The kernel refuses while something runs in one. */
function removeEmpty(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(PREFIX))) {
    try {
      rmdirSync(join(folder, name));
    } catch {
      continue; // something runs in it
    }
  }
}

function wrote(path: string, value: string): boolean {
  if (!existsSync(path)) return false;
  try {
    writeFileSync(path, value);
    return true;
  } catch {
    return false; // not given to us
  }
}

function processesIn(folder: string): readonly number[] {
  return read(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
}

/** Whoever started the gateway, and whoever started that: `npm`, a service manager inside a container. */
function withAncestors(pid: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (let one = pid; one > 0 && !found.has(one); one = parentOf(one)) found.add(one);
  return found;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function read(path: string): string {
  return readFileSync(path, "utf8");
}
