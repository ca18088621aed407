/** Ends what the tools of one turn started and did not end. What ran before the turn's first tool stays, and so does what is still below the agent process. */
import type { Log } from "../../kit/log.ts";
import type { AgentProcess } from "../process/process.ts";
import type { ProcessIdentity } from "../process/proc.ts";

export interface LeftRunning {
  /** A tool that may start programs is about to run. */
  toolBegins(): void;
  /** The turn is over. Costs nothing when it had no such tool. */
  end(): Promise<void>;
}

export function createLeftRunning(
  deps: { readonly log: Log },
  process: Pick<AgentProcess, "pid" | "leftRunning" | "endLeftRunning">,
): LeftRunning {
  let before: readonly ProcessIdentity[] | null = null;
  return {
    toolBegins() {
      before ??= process.leftRunning();
    },
    async end() {
      if (before === null) return;
      const kept = before;
      before = null;
      const left = await process.endLeftRunning(kept);
      if (left.length === 0) return;
      deps.log.warn("what a turn left running does not end", { pid: process.pid, left: left.map(({ pid }) => pid) });
    },
  };
}
