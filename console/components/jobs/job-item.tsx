/** One job: a line that says when and how it went; open, all about it, its runs, and what can be done with it. */
import { useSignal } from "@preact/signals";
import type { WireListedJob } from "../../../src/contracts/wire.ts";
import { act, openJob, REMINDER, showRuns } from "../../state/jobs-state.ts";
import { moment, scheduleText, until } from "../../text/schedule.ts";
import { Icon, type IconName } from "../icons.tsx";
import { minute } from "../sidebar.tsx";
import { outcomeOf, RunList } from "./run-list.tsx";

interface Props {
  readonly job: WireListedJob;
  /** The focus has to go somewhere. */
  readonly onRemoved: () => void;
}

const ZONE = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
const STATE_WORDS = { active: "", paused: "paused", disabled: "switched off", done: "done" } as const;
const DELIVERY_WORDS = {
  announce: "are retold in the main conversation",
  direct: "are said in the chat as they are",
  silent: "stay in the session of the run",
} as const;

function looksOf({ state, lastRun }: WireListedJob): { readonly icon: IconName; readonly status: string } {
  if (lastRun?.status === "running" || lastRun?.status === "waiting") return { icon: "spinner", status: "running" };
  if (state === "disabled") return { icon: "blocked", status: "blocked" };
  if (state === "paused") return { icon: "pause", status: "paused" };
  if (lastRun?.status === "failed") return { icon: "alert", status: "error" };
  return state === "done" ? { icon: "check", status: "success" } : { icon: "clock", status: "planned" };
}

/** A reminder is known by what it reminds of, not by how the assistant is told to say it. */
function taskText(task: string): string {
  return task.startsWith(REMINDER) ? `Reminder: ${task.slice(REMINDER.length)}` : task;
}

export function JobItem({ job, onRemoved }: Props) {
  const open = openJob.value === job.id;
  const { icon, status } = looksOf(job);
  const now = minute.value;
  return (
    <div class="tool job" data-testid="job" data-status={status} data-state={job.state}>
      <button
        type="button"
        class="tool-line job-line"
        aria-expanded={open}
        onClick={() => showRuns(open ? null : job.id)}
      >
        <span class="tool-status">
          <Icon name={icon} size={16} />
        </span>
        <span class="job-words">
          <span class="job-first">
            <code class="tool-name">{job.id}</code>
            {job.state !== "active" && <span class="job-state">{STATE_WORDS[job.state]}</span>}
          </span>
          {!open && <span class="job-task">{taskText(job.task)}</span>}
          <span class="job-second">
            {scheduleText(job.schedule, ZONE())}
            {job.nextAt !== null && ` · ${moment(job.nextAt)}, ${until(job.nextAt, now)}`}
          </span>
          {job.lastRun && <span class="job-second">Last time: {outcomeOf(job.lastRun, now)}</span>}
        </span>
        <Icon name="chevron" size={16} />
      </button>
      {open && <About job={job} onRemoved={onRemoved} />}
    </div>
  );
}

function About({ job, onRemoved }: Props) {
  const { mode, delivery, source, createdBy } = job;
  return (
    <div class="tool-body">
      {job.because !== null && <p class="tool-reason">Not running: {job.because}</p>}
      <p class="tool-about">{taskText(job.task)}</p>
      <dl class="facts">
        <dt>Next</dt>
        <dd>{job.nextAt === null ? "not planned" : `${new Date(job.nextAt).toLocaleString()} (${ZONE()})`}</dd>
        <dt>Schedule</dt>
        <dd>
          {job.schedule.kind} <code>{job.schedule.expr}</code>
          {job.schedule.timezone !== undefined && ` ${job.schedule.timezone}`}
        </dd>
        <dt>Its words</dt>
        <dd>{mode === "main" ? "are said in the main conversation" : DELIVERY_WORDS[delivery]}</dd>
        <dt>Made by</dt>
        <dd>
          {source === "config"
            ? "the configuration file"
            : `${createdBy}${source === "agent" ? ", through the assistant" : ""}`}
        </dd>
      </dl>
      <Actions job={job} onRemoved={onRemoved} />
      <RunList job={job} />
    </div>
  );
}

function Actions({ job, onRemoved }: Props) {
  const asking = useSignal(false);
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const does = (method: Parameters<typeof act>[0]) => async (): Promise<void> => {
    if (busy.value) return;
    busy.value = true;
    problem.value = await act(method, job.id);
    busy.value = false;
    if (method === "cron.remove" && problem.value === null) onRemoved();
  };
  const going = job.state === "active";
  return (
    <>
      {asking.value ? (
        <div class="approval-buttons" role="group" aria-label={`Remove ${job.id}?`}>
          <span class="job-ask">Remove {job.id} and the list of its runs?</span>
          <button type="button" class="quiet small edged deny" ref={focus} onClick={() => void does("cron.remove")()}>
            Remove
          </button>
          <button type="button" class="quiet small edged" onClick={() => (asking.value = false)}>
            Keep
          </button>
        </div>
      ) : (
        <div class="approval-buttons" role="group" aria-label={`What to do with ${job.id}`}>
          <button type="button" class="quiet small edged" onClick={() => void does("cron.run")()}>
            Run now
          </button>
          <button
            type="button"
            class="quiet small edged"
            onClick={() => void does(going ? "cron.pause" : "cron.resume")()}
          >
            {going ? "Pause" : "Resume"}
          </button>
          {job.source !== "config" && (
            <button type="button" class="quiet small edged deny" onClick={() => (asking.value = true)}>
              Remove…
            </button>
          )}
        </div>
      )}
      {problem.value !== null && (
        <p class="job-problem" role="alert">
          {problem.value}
        </p>
      )}
    </>
  );
}

/** A question that appears takes the focus, so that it can be answered where one is. */
function focus(element: HTMLElement | null): void {
  element?.focus();
}
