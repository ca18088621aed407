/** One job: a line that says when and how it went; open, all about it, its runs, and what can be done with it. */
import { useSignal } from "@preact/signals";
import type { WireListedJob } from "../../../src/contracts/wire.ts";
import { act, openJob, REMINDER, showRuns } from "../../state/jobs-state.ts";
import { moment, scheduleText, until } from "../../text/schedule.ts";
import { minute } from "../../state/screen.ts";
import { Icon, type IconName } from "../icons.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { JobForm } from "./job-form.tsx";
import { outcomeOf, RunList } from "./run-list.tsx";
import { dateText, ownZone } from "../../text/dates.ts";

interface Props {
  readonly job: WireListedJob;
  /** The focus has to go somewhere. */
  readonly onRemoved: () => void;
}

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
            {scheduleText(job, ownZone())}
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

const CATCH_UP_WORDS = {
  skip: "are left out",
  once: "are caught up with once",
  all: "are all caught up with",
} as const;

function makerText(source: WireListedJob["source"], createdBy: string): string {
  if (source === "config") return "the configuration file";
  return source === "agent" ? `${createdBy}, through the assistant` : createdBy;
}

function About({ job, onRemoved }: Props) {
  const { mode, delivery, source, createdBy } = job;
  return (
    <div class="tool-body">
      {job.because !== null && <p class="tool-reason">Not running: {job.because}</p>}
      <p class="tool-about">{taskText(job.task)}</p>
      <FactList
        facts={[
          ["Next", job.nextAt === null ? "not planned" : `${dateText(job.nextAt, "whole")} (${ownZone()})`],
          [
            "Schedule",
            <>
              {job.schedule.kind} <code>{job.schedule.expr}</code> {job.schedule.timezone}
            </>,
          ],
          ["Its words", mode === "main" ? "are said in the main conversation" : DELIVERY_WORDS[delivery]],
          ["Posted to", job.webhook],
          ["Missed runs", CATCH_UP_WORDS[job.catchUp]],
          ["Tools it needs", job.needs?.join(", ")],
          ["Agent", job.agentId],
          ["Made by", makerText(source, createdBy)],
        ]}
      />
      <Actions job={job} onRemoved={onRemoved} />
      <RunList job={job} />
    </div>
  );
}

function Actions({ job, onRemoved }: Props) {
  const isEditing = useSignal(false);
  const { problem, run } = useAction();
  const button = (method: Parameters<typeof act>[0], name: string) => (
    <button type="button" class="quiet small edged" onClick={() => void run(() => act(method, job.id))}>
      {name}
    </button>
  );
  const buttons = (
    <>
      {button("cron.run", "Run now")}
      {job.state === "active" ? button("cron.pause", "Pause") : button("cron.resume", "Resume")}
      {job.source !== "config" && (
        <button
          type="button"
          class="quiet small edged"
          aria-expanded={isEditing.value}
          onClick={() => (isEditing.value = !isEditing.value)}
        >
          Edit
        </button>
      )}
    </>
  );
  return (
    <>
      {job.source === "config" ? (
        <div class="approval-buttons" role="group" aria-label={`What to do with ${job.id}`}>
          {buttons}
        </div>
      ) : (
        <AskFirst
          verb="Remove"
          to={job.id}
          question={`Remove ${job.id} and the list of its runs?`}
          act={() => act("cron.remove", job.id)}
          onDone={onRemoved}
        >
          {buttons}
        </AskFirst>
      )}
      <Problem text={problem} />
      {isEditing.value && <JobForm job={job} onDone={() => (isEditing.value = false)} />}
    </>
  );
}
