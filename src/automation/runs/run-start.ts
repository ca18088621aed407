/** How the work of a run begins, and how it can end: what the engine and the starters of runs agree on. */
import type { Job, JobRun } from "../../contracts/automation/job.ts";
import type { TurnId } from "../../contracts/ids.ts";

export type RunOutcome =
  | { readonly kind: "ran" }
  /** There was no money left for it: nothing was tried, and nothing has failed. */
  | { readonly kind: "skipped"; readonly because: string }
  /** `again`: trying once more may help (a busy provider, a lost connection); a wrong key does not get better. */
  | { readonly kind: "failed"; readonly because: string; readonly again: boolean };

/** Begins the work of a run. Called again for the same run and attempt it changes nothing: after a crash that is how it goes on. */
export interface RunStarter {
  /** `check` before any token is spent: null, or why it cannot work. */
  check(job: Job): Promise<string | null>;
  /** Why there is no money for it now; null: there is. Asked before a run begins, and not when one is taken up again. */
  unpaid(job: Job): string | null;
  start(run: JobRun, job: Job, signal: AbortSignal): Promise<RunStart>;
}

export type RunStart =
  /** Its end is told later. */
  | { readonly kind: "begun" }
  /** A previous process began it, and it is over. */
  | { readonly kind: "ended"; readonly outcome: RunOutcome; readonly turnId: TurnId | null }
  | { readonly kind: "refused"; readonly because: string; readonly again: boolean };
