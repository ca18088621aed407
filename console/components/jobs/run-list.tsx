/** The runs of a job, newest first: when, how it went and why, and the way to what was said. */
import type { RunStatus } from "../../../src/contracts/automation/job.ts";
import type { WireListedJob, WireRun } from "../../../src/contracts/wire.ts";
import { ago, took } from "../../net/error-text.ts";
import { moreRuns, runs } from "../../state/jobs-state.ts";
import { hashOf } from "../../state/route.ts";
import { moment, until } from "../../text/schedule.ts";
import { minute } from "../../state/screen.ts";
import { Icon, type IconName } from "../icons.tsx";

const LOOKS: Readonly<Record<RunStatus, { readonly icon: IconName; readonly word: string; readonly status: string }>> =
  {
    running: { icon: "spinner", word: "running", status: "running" },
    waiting: { icon: "clock", word: "waits for the one before", status: "planned" },
    ran: { icon: "check", word: "went well", status: "success" },
    failed: { icon: "alert", word: "failed", status: "error" },
    skipped: { icon: "blocked", word: "skipped", status: "planned" },
    missed: { icon: "blocked", word: "missed", status: "planned" },
  };

/** In a sentence, with the reason. */
export function outcomeOf({ status, reason, slot, startedAt }: WireRun, now: number): string {
  const at = ago(startedAt ?? slot, now);
  const when = at === "now" ? "just now" : /^\d/.test(at) ? `${at} ago` : at;
  return `${LOOKS[status].word}, ${when}${reason === undefined ? "" : `: ${reason}`}`;
}

export function RunList({ job }: { readonly job: WireListedJob }) {
  const { phase, items, next } = runs.value;
  return (
    <section>
      <h3 class="label">Runs</h3>
      {phase === "failed" && <p class="faint">The runs could not be read.</p>}
      {phase === "ready" && items.length === 0 && <p class="faint">It has not run yet.</p>}
      <ul class="runs" aria-label={`Runs of ${job.id}`} aria-busy={phase === "loading"}>
        {items.map((run) => (
          <li key={run.id} data-testid="run" data-status={LOOKS[run.status].status}>
            <OneRun run={run} />
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="quiet small" onClick={() => void moreRuns()}>
          Show more
        </button>
      )}
    </section>
  );
}

function OneRun({ run }: { readonly run: WireRun }) {
  const { icon, word } = LOOKS[run.status];
  const at = run.startedAt ?? run.slot;
  return (
    <>
      <span class="tool-status">
        <Icon name={icon} size={16} />
      </span>
      <span class="run-words">
        <time dateTime={new Date(at).toISOString()}>{moment(at)}</time> · {word}
        {run.ms !== null && ` in ${took(run.ms)}`}
        {run.manual && " · by hand"}
        {run.attempt > 1 && ` · attempt ${run.attempt}`}
        {run.reason !== undefined && <span class="run-reason">{run.reason}</span>}
        {run.retryAt !== undefined && <span class="run-reason">Tried again {until(run.retryAt, minute.value)}.</span>}
      </span>
      {run.sessionKey !== undefined && (
        <a href={hashOf(run.sessionKey)} aria-label={`What was said, ${moment(at)}`}>
          Open
        </a>
      )}
    </>
  );
}
