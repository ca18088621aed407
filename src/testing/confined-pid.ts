/** Numbers of processes as this machine has them, for those that know themselves by the number of a pid namespace. */
import { readFileSync } from "node:fs";
import { allProcesses, identify, withDescendants } from "../agents/process/proc.ts";
import type { SandboxSetting } from "../contracts/sandbox.ts";
import { createProgramFinder } from "../agents/process/program.ts";

/** The full tier has two processes before pi. */
const WRAPPERS = 2;

/** `agent.sandbox` for tests that read the environment or the memory of pi: behind a wall it closes both, and only root can look. */
export const SANDBOX_TO_LOOK_INTO: SandboxSetting = process.getuid?.() === 0 ? "auto" : "off";

/** pi itself, of a process that was spawned for it. */
export function programPid(spawned: number): number {
  if (namespacePid(spawned) !== null) return spawned;
  return createProgramFinder(identify(spawned), WRAPPERS)()?.program.pid ?? spawned;
}

/** Which process below `spawned` calls itself `inside`. Null: there is none any more. */
export function outsidePid(spawned: number, inside: number): number | null {
  const below = withDescendants(allProcesses(), [spawned]);
  return [...below].find((pid) => pid === inside || namespacePid(pid) === inside) ?? null;
}

/** Null: it is in no pid namespace of its own, or gone. */
function namespacePid(pid: number): number | null {
  try {
    const numbers = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]?.split(/\s+/) ?? [];
    return numbers.length > 1 ? Number(numbers.at(-1)) : null;
  } catch {
    return null; // gone
  }
}
