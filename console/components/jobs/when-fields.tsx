/** When a job runs: in plain words and as a cron expression, each made from the other while somebody types, with the next times. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import type { Schedule } from "../../../src/contracts/automation/job.ts";
import type { SchedulePreview } from "../../../src/contracts/automation/jobs.ts";
import { askPreview, type PreviewQuestion } from "../../state/automations-state.ts";
import { soon } from "../../state/soon.ts";
import { moment, scheduleText } from "../../text/schedule.ts";
import { TextField } from "../parts/fields.tsx";
import { ownZone } from "../../text/dates.ts";

const PAUSE_MS = 250;
const MAX_CHARS = 200;
const ZONE_CHARS = 64;

/** Null: nothing that can be planned was typed yet. */
type ChosenSchedule = Signal<Schedule | null>;

interface Props {
  readonly chosen: ChosenSchedule;
  /** What is changed; null: a new one. */
  readonly before: { readonly words: string | null; readonly schedule: Schedule } | null;
}

export function WhenFields({ chosen, before }: Props) {
  const ids = useId();
  const words = useSignal(firstWords(before));
  const cron = useSignal(before?.schedule.kind === "cron" ? before.schedule.expr : "");
  const zone = useSignal(before ? (before.schedule.timezone ?? "") : ownZone());
  const typed = useSignal<"words" | "cron">(before?.words === null ? "cron" : "words");
  const preview = useSignal<SchedulePreview | null>(null);
  const problem = useSignal<string | null>(null);
  const question = (): PreviewQuestion | null => {
    if (typed.value === "cron") return cron.value.trim() === "" ? null : { kind: "cron", expr: cron.value.trim() };
    return words.value.trim() === "" ? null : { words: words.value.trim() };
  };
  const ask = async (): Promise<void> => {
    const asked = question();
    const wanted = JSON.stringify([asked, zone.value]);
    if (asked === null) return;
    const answer = await askPreview(asked, zone.value.trim());
    if (wanted !== JSON.stringify([question(), zone.value])) return; // somebody has typed on meanwhile
    preview.value = answer.ok ? answer.value : null;
    chosen.value = answer.ok ? answer.value.schedule : null;
    problem.value = answer.ok ? null : answer.error.message;
    if (!answer.ok) return;
    const { schedule, words: said } = answer.value;
    if (typed.value === "cron") words.value = said ?? "";
    else cron.value = schedule.kind === "cron" ? schedule.expr : "";
  };
  const onTyped = (field: "words" | "cron") => () => {
    typed.value = field;
    chosen.value = null;
    soon(`when ${ids}`, PAUSE_MS, () => void ask());
  };
  useEffect(() => void ask(), []);
  return (
    <fieldset class="when">
      <legend>When</legend>
      <TextField
        label="In plain words"
        value={words}
        placeholder="every weekday at 9"
        maxLength={MAX_CHARS}
        exact
        wide
        onTyped={onTyped("words")}
      />
      <TextField
        label="Cron"
        value={cron}
        maxLength={MAX_CHARS}
        placeholder="0 9 * * 1-5"
        exact
        onTyped={onTyped("cron")}
      />
      <TextField
        label="Time zone"
        value={zone}
        maxLength={ZONE_CHARS}
        list={`${ids}-zones`}
        exact
        onTyped={onTyped(typed.value)}
      />
      <datalist id={`${ids}-zones`}>
        {Intl.supportedValuesOf("timeZone").map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Preview preview={preview.value} problem={problem.value} />
    </fieldset>
  );
}

/** A moment is typed as it is kept; nothing else would be read as the same one. */
function firstWords(before: Props["before"]): string {
  if (!before) return "";
  return before.schedule.kind === "at" ? before.schedule.expr : (before.words ?? "");
}

function Preview({ preview, problem }: { readonly preview: SchedulePreview | null; readonly problem: string | null }) {
  return (
    <div class="when-preview" role="status" data-testid="preview">
      {problem !== null && <p class="form-problem">{problem}</p>}
      {preview && problem === null && (
        <>
          <p>
            {preview.words === null
              ? "This cannot be said in plain words. The next times by your clock:"
              : `${scheduleText(preview, ownZone())}. The next times by your clock:`}
          </p>
          <ol aria-label="Next times">
            {preview.nextAt.map((at) => (
              <li key={at}>
                <time dateTime={new Date(at).toISOString()}>{moment(at)}</time>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}
