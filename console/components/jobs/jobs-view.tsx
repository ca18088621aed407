/** The view of what begins by itself: a reminder to make, the jobs there are, and how their runs went. */
import { useEffect, useRef } from "preact/hooks";
import { followJobs, jobs, moreJobs, switchedOff } from "../../state/jobs-state.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { JobItem } from "./job-item.tsx";
import { ReminderForm } from "./reminder-form.tsx";

export function JobsView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(followJobs, []);
  return (
    <ViewFrame name="Automations" testId="jobs-view" region={region}>
      <ReminderForm />
      {switchedOff.value && (
        <p class="job-note">
          Jobs are switched off: nothing begins until <code>cron.enabled</code> is true.
        </p>
      )}
      <h2 class="hidden">Jobs</h2>
      <PagedList
        name="Jobs"
        list={jobs.value}
        failed="The jobs could not be read. They come back with the connection."
        empty={<NoJobs />}
        keyOf={({ id }) => id}
        onMore={() => void moreJobs()}
      >
        {(job) => <JobItem job={job} onRemoved={() => region.current?.focus()} />}
      </PagedList>
    </ViewFrame>
  );
}

function NoJobs() {
  return (
    <EmptyState title="Nothing is planned">
      <p>
        A job is a task with a schedule: every morning, every half hour, or once. Make a reminder above, or say it in a
        conversation:
      </p>
      <ul class="sayings">
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
    </EmptyState>
  );
}
