/** The view of what begins by itself: a reminder or a job to make, the jobs there are by their next run, and how their runs went. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { followJobs, idleJobs, jobs, moreJobs, switchedOff } from "../../state/jobs-state.ts";
import { AUTOMATION_TABS } from "../automations/automation-tabs.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { JobForm } from "./job-form.tsx";
import { JobItem } from "./job-item.tsx";
import { ReminderForm } from "./reminder-form.tsx";

export function JobsView() {
  const region = useRef<HTMLDivElement>(null);
  useEffect(followJobs, []);
  const onRemoved = () => region.current?.focus();
  const hasNone = jobs.value.phase === "ready" && jobs.value.items.length + idleJobs.value.items.length === 0;
  return (
    <ViewFrame name="Automations" testId="jobs-view" region={region} tabs={AUTOMATION_TABS}>
      <ReminderForm />
      <NewJob />
      {switchedOff.value && (
        <p class="job-note">
          Jobs are switched off: nothing begins until <code>cron.enabled</code> is true.
        </p>
      )}
      <section class="part">
        <h2 class={hasNone ? "hidden" : ""}>Next</h2>
        <PagedList
          name="Jobs"
          list={jobs.value}
          failed="The jobs could not be read. They come back with the connection."
          empty={hasNone ? <NoJobs /> : "Nothing is planned."}
          keyOf={({ id }) => id}
          onMore={() => void moreJobs(true)}
        >
          {(job) => <JobItem job={job} onRemoved={onRemoved} />}
        </PagedList>
      </section>
      {idleJobs.value.items.length > 0 && (
        <section class="part">
          <h2>Not planned</h2>
          <PagedList
            name="Jobs that are not planned"
            list={idleJobs.value}
            failed=""
            empty=""
            keyOf={({ id }) => id}
            onMore={() => void moreJobs(false)}
          >
            {(job) => <JobItem job={job} onRemoved={onRemoved} />}
          </PagedList>
        </section>
      )}
    </ViewFrame>
  );
}

function NewJob() {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    isOpen.value = false;
    button.current?.focus();
  };
  return (
    <div class="new-job">
      <button
        type="button"
        class="quiet edged"
        ref={button}
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        New job
      </button>
      {isOpen.value && <JobForm job={null} onDone={close} />}
    </div>
  );
}

function NoJobs() {
  return (
    <EmptyState title="Nothing is planned">
      <p>
        A job is a task with a schedule: every morning, every half hour, or once. Make one above, or say it in a
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
