/** By what an agent process and all that it starts is known for as long as any of it runs. Looks only; who ends what is decided in stop.ts. */
import { limitMark, limitMarkOf } from "./limit-mark.ts";
import { allProcesses, hasVariable, living, type ProcessFacts, type ProcessIdentity, withDescendants } from "./proc.ts";

/** In the environment of one agent process: whatever it starts inherits it, also in another session and after its parents are gone. */
export const PROCESS_VARIABLE = "PI_GATEWAY_PROCESS";

/** The agent process `id` and all that it started, unless something has done away with both of its marks. */
export function withProcessMark(id: string): readonly ProcessIdentity[] {
  const all = allProcesses();
  const marked = markedIn(all, id);
  return living(all, (pid) => marked.has(pid));
}

/** The same, with what is known of each. */
export function factsOfMarked(id: string): readonly ProcessFacts[] {
  const all = allProcesses();
  const marked = markedIn(all, id);
  return all.filter(({ pid }) => marked.has(pid));
}

/** What `agent` started and is no longer below it: the shell or the program that had started it has ended. `wrappers` stand above it. */
export function leftRunning(
  agent: ProcessIdentity,
  id: string,
  wrappers: readonly ProcessIdentity[],
): readonly ProcessIdentity[] {
  const all = allProcesses().filter(({ startTime }) => Number(startTime) >= Number(agent.startTime)); // the others cannot be its work
  const below = withDescendants(all, [agent.pid]);
  const marked = markedIn(all, id);
  const above = new Set(wrappers.map(({ pid }) => pid));
  return living(all, (pid) => marked.has(pid) && !below.has(pid) && !above.has(pid));
}

/** With what the marked ones started: that may carry the marks of another gateway, which runs inside this one's agent. */
function markedIn(all: readonly ProcessFacts[], id: string): ReadonlySet<number> {
  const limit = limitMark(id);
  const carries = (pid: number): boolean => limitMarkOf(pid) === limit || hasVariable(pid, PROCESS_VARIABLE, id);
  return withDescendants(
    all,
    all.map(({ pid }) => pid).filter((pid) => pid !== process.pid && carries(pid)),
  );
}
