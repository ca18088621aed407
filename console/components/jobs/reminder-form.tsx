/** Makes a reminder: what, and when by the person's own clock. */
import { useSignal } from "@preact/signals";
import { remind } from "../../state/jobs-state.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

const MINUTE_MS = 60_000;
const MAX_WORDS = 500;
const NINE = 9;
const AT = "at";
const TOMORROW = "tomorrow";
/** Minutes from now, or one of the two above. */
const CHOICES = [
  ["5", "in 5 minutes"],
  ["20", "in 20 minutes"],
  ["60", "in an hour"],
  ["180", "in 3 hours"],
  [TOMORROW, "tomorrow at 9"],
  [AT, "at a time…"],
] as const;

/** Null: no moment was chosen. */
function momentOf(when: string, at: string): number | null {
  if (when === AT) return at === "" ? null : new Date(at).getTime();
  if (when !== TOMORROW) return Date.now() + Number(when) * MINUTE_MS;
  const day = new Date();
  day.setDate(day.getDate() + 1);
  return day.setHours(NINE, 0, 0, 0);
}

export function ReminderForm() {
  const text = useSignal("");
  const when = useSignal("20");
  const at = useSignal("");
  const { busy, problem, run } = useAction();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const moment = momentOf(when.value, at.value);
    const words = text.value.trim();
    if (words === "" || moment === null) return;
    if (await run(() => remind(words, moment))) text.value = "";
  };
  return (
    <form class="form" aria-label="New reminder" onSubmit={(event) => void submit(event)}>
      <TextField label="Remind me of" value={text} required maxLength={MAX_WORDS} placeholder="stretching" wide />
      <SelectField label="When" value={when} choices={CHOICES} />
      {when.value === AT && <TextField label="Time" value={at} type="datetime-local" required />}
      <button type="submit" class="primary" disabled={busy}>
        Remind me
      </button>
      <Problem text={problem} />
    </form>
  );
}
