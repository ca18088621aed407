/** The view of what begins by itself: a reminder to make, the jobs there are, and how their runs went. */
import { useEffect, useRef } from "preact/hooks";
import { followJobs, jobs, moreJobs, switchedOff } from "../../state/jobs-state.ts";
import { JobItem } from "./job-item.tsx";
import { ReminderForm } from "./reminder-form.tsx";

export function JobsView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(followJobs, []);
  const { phase, items, next } = jobs.value;
  return (
    <div class="chat-frame">
      <div class="chat" tabindex={0} role="region" aria-label="Jobs" data-testid="jobs-view" ref={region}>
        <div class="column">
          <ReminderForm />
          {switchedOff.value && (
            <p class="job-note">
              Jobs are switched off: nothing begins until <code>cron.enabled</code> is true.
            </p>
          )}
          {phase === "failed" && (
            <p class="list-note">The jobs could not be read. They come back with the connection.</p>
          )}
          {phase === "ready" && items.length === 0 && <NoJobs />}
          {items.length > 0 && <h2 class="hidden">Jobs</h2>}
          <ul class="tool-list" aria-label="Jobs" aria-busy={phase === "loading"}>
            {items.map((job) => (
              <li key={job.id}>
                <JobItem job={job} onRemoved={() => region.current?.focus()} />
              </li>
            ))}
          </ul>
          {next !== null && (
            <button type="button" class="quiet earlier" onClick={() => void moreJobs()}>
              Show more
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function NoJobs() {
  return (
    <div class="state no-jobs">
      <h2>Nothing is planned</h2>
      <p>
        A job is a task with a schedule: every morning, every half hour, or once. Make a reminder above, or say it in a
        conversation:
      </p>
      <ul>
        <li>
          <code>remind me in 20 minutes to stretch</code>
        </li>
        <li>
          <code>/cron add every 30m check the mail</code>
        </li>
        <li>
          <code>/cron add "0 9 * * 1-5" plan the day</code>
        </li>
      </ul>
    </div>
  );
}
