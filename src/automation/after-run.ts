/** The consequences of the end of a run: another attempt, an alert, a job that is switched off. Pure. */
import type { AlertKind, Job, JobRun, JobState } from "../contracts/automation/job.ts";
import type { RunOutcome } from "./runs/run-start.ts";

/** How long until a failed run is tried once more, by how often it was tried. */
export const BACKOFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
const ALERT_AFTER_FAILURES = 2;
const DISABLE_AFTER_FAILURES = 10;

export interface AfterRun {
  readonly failures: number;
  readonly retryAt: number | null;
  readonly state: JobState;
  readonly because: string | null;
  readonly remove: boolean;
  /** The owner is told. */
  readonly alert: AlertKind | null;
}

export function afterRun(
  job: Job,
  run: Pick<JobRun, "attempt" | "manual">,
  outcome: RunOutcome,
  now: number,
): AfterRun {
  const last = job.nextAt === null && !run.manual;
  const same = { state: job.state, because: job.because };
  if (outcome.kind === "ran") {
    const remove = job.deleteAfterRun && !run.manual;
    const state = last ? "done" : job.state;
    const alert = job.failures >= ALERT_AFTER_FAILURES ? "recovered" : null;
    return { failures: 0, retryAt: null, state, because: job.because, remove, alert };
  }
  if (outcome.kind === "skipped") {
    const after = last ? { state: "disabled" as const, because: outcome.because } : same; // its only moment has passed
    return { failures: job.failures, ...after, retryAt: null, remove: false, alert: null };
  }
  const failures = job.failures + 1;
  if (failures >= DISABLE_AFTER_FAILURES) {
    const because = `It failed ${failures} times in a row, the last time because: ${outcome.because}`;
    return { failures, retryAt: null, state: "disabled", because, remove: false, alert: "disabled" };
  }
  const alert = failures === ALERT_AFTER_FAILURES || (last && !outcome.again) ? "failing" : null;
  const pause = run.manual || !outcome.again ? undefined : BACKOFF_MS[run.attempt - 1];
  if (pause !== undefined) return { failures, ...same, retryAt: now + pause, remove: false, alert };
  const ended = last ? { state: "disabled" as const, because: outcome.because } : same;
  return { failures, ...ended, retryAt: null, remove: false, alert: last ? "failing" : alert };
}
