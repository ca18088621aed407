/** Makes a job or changes one: what, when, who does it, where its words go, and what happens when it cannot run. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Schedule } from "../../../src/contracts/automation/job.ts";
import type { WireJob, WireJobInput } from "../../../src/contracts/wire.ts";
import { jobChoices, readJobChoices } from "../../state/automations-state.ts";
import { saveJob } from "../../state/jobs-state.ts";
import { jobNameOf } from "../../text/job-name.ts";
import { spanText } from "../../text/schedule.ts";
import { CheckField, SelectField, TextArea, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { ToolPicker } from "./tool-picker.tsx";
import { WhenFields } from "./when-fields.tsx";

interface Props {
  /** Null: a new one. */
  readonly job: WireJob | null;
  readonly onDone: () => void;
}

const MAX_TASK = 8_000;
const MAX_ID = 64;
const TASK_ROWS = 3;
const DELIVERIES = [
  ["announce", "retold in the main conversation"],
  ["direct", "said in the chat as they are"],
  ["silent", "kept in the session of the run"],
  ["main", "done and answered in the main conversation"],
] as const;
const CATCH_UPS = [
  ["once", "catch up once"],
  ["skip", "leave them out"],
  ["all", "catch up with all, up to ten"],
] as const;
const OVERLAPS = [
  ["skip", "leave it out"],
  ["queue", "wait for the one before"],
  ["allow", "run both"],
] as const;

export function JobForm({ job, onDone }: Props) {
  const fields = useJobFields(job);
  const { busy, problem, run } = useAction();
  useEffect(() => void readJobChoices(), []);
  const { task, chosen } = fields;
  const complete = task.value.trim() !== "" && chosen.value !== null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (chosen.value === null) return;
    const input = inputOf(fields, chosen.value, job);
    if (await run(() => saveJob(job?.id ?? null, input))) onDone();
  };
  return (
    <form
      class="form job-form"
      aria-label={job ? `Change ${job.id}` : "New job"}
      data-testid="job-form"
      onSubmit={(event) => void submit(event)}
    >
      <TextArea label="Task" value={task} rows={TASK_ROWS} required maxLength={MAX_TASK} placeholder="Plan the day." />
      {job === null && (
        <TextField
          label="Name"
          value={fields.id}
          maxLength={MAX_ID}
          placeholder={jobNameOf(task.value) || "by itself"}
          exact
        />
      )}
      <WhenFields chosen={chosen} before={job} />
      <SelectField label="Its words are" value={fields.delivery} choices={DELIVERIES} />
      <SelectField label="Agent" value={fields.agent} choices={named(jobChoices.value.agents, fields.agent.value)} />
      <details>
        <summary>More</summary>
        <div class="form">
          <SelectField label="Runs that were missed" value={fields.catchUp} choices={CATCH_UPS} />
          <SelectField label="While the one before runs" value={fields.overlap} choices={OVERLAPS} />
          <TextField label="Stop a run after" value={fields.timeout} placeholder="10m" exact />
          <SelectField
            label="Posted to"
            value={fields.webhook}
            choices={[["", "nowhere else"], ...named(jobChoices.value.targets, fields.webhook.value)]}
          />
          <ToolPicker needs={fields.needs} tools={jobChoices.value.tools} />
          <CheckField label="Remove it after its first run" value={fields.once} />
        </div>
      </details>
      <div class="approval-buttons">
        <button type="submit" class="primary" disabled={busy || !complete}>
          {job ? "Save job" : "Plan job"}
        </button>
        <button type="button" class="quiet edged" onClick={onDone}>
          Cancel
        </button>
      </div>
      <Problem text={problem} />
    </form>
  );
}

function useJobFields(job: WireJob | null) {
  return {
    id: useSignal(""),
    task: useSignal(job?.task ?? ""),
    chosen: useSignal<Schedule | null>(job?.schedule ?? null),
    delivery: useSignal<string>(job?.mode === "main" ? "main" : (job?.delivery ?? "announce")),
    agent: useSignal<string>(job?.agentId ?? "default"),
    catchUp: useSignal<string>(job?.catchUp ?? "once"),
    overlap: useSignal<string>(job?.overlap ?? "skip"),
    timeout: useSignal(job?.timeoutMs ? spanText(job.timeoutMs) : ""),
    webhook: useSignal(job?.webhook ?? ""),
    needs: useSignal<readonly string[]>(job?.needs ?? []),
    once: useSignal(job?.deleteAfterRun ?? false),
  };
}

/** The one that is chosen is offered even when it is not read yet, or does not exist any more. */
function named(names: readonly string[], chosen: string): readonly (readonly [string, string])[] {
  const all = chosen === "" || names.includes(chosen) ? names : [chosen, ...names];
  return all.map((name) => [name, name] as const);
}

function inputOf(fields: ReturnType<typeof useJobFields>, schedule: Schedule, before: WireJob | null): WireJobInput {
  const { delivery } = fields;
  const id = fields.id.value.trim() || jobNameOf(fields.task.value);
  const isMain = delivery.value === "main";
  const isSame = before !== null && JSON.stringify(before.schedule) === JSON.stringify(schedule);
  return {
    ...(id === "" || before !== null ? {} : { id }),
    ...(isSame ? {} : { schedule }), // a schedule that is sent counts from now on
    task: fields.task.value.trim(),
    agentId: fields.agent.value,
    mode: isMain ? "main" : "isolated",
    ...(isMain ? {} : { delivery: delivery.value as NonNullable<WireJobInput["delivery"]> }),
    catchUp: fields.catchUp.value as NonNullable<WireJobInput["catchUp"]>,
    overlap: fields.overlap.value as NonNullable<WireJobInput["overlap"]>,
    webhook: fields.webhook.value === "" ? null : fields.webhook.value,
    needs: fields.needs.value,
    deleteAfterRun: fields.once.value,
    ...(fields.timeout.value.trim() === "" ? {} : { timeoutMs: fields.timeout.value.trim() }),
  } as WireJobInput;
}
