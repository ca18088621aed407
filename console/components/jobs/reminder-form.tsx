/** Makes a reminder: what, and when by the person's own clock. */
import { useSignal } from "@preact/signals";
import { remind } from "../../state/jobs-state.ts";

const MINUTE_MS = 60_000;
const MAX_WORDS = 500;
const NINE = 9;
const AT = "at";
const TOMORROW = "tomorrow";
const AFTER = [
  [5, "in 5 minutes"],
  [20, "in 20 minutes"],
  [60, "in an hour"],
  [180, "in 3 hours"],
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
  const words = useSignal("");
  const when = useSignal("20");
  const at = useSignal("");
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const moment = momentOf(when.value, at.value);
    if (words.value.trim() === "" || moment === null || busy.value) return;
    busy.value = true;
    problem.value = await remind(words.value.trim(), moment);
    busy.value = false;
    if (problem.value === null) words.value = "";
  };
  return (
    <form class="reminder" aria-label="New reminder" onSubmit={(event) => void submit(event)}>
      <label class="reminder-words">
        <span>Remind me of</span>
        <input
          type="text"
          required
          maxLength={MAX_WORDS}
          placeholder="stretching"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <label>
        <span>When</span>
        <select value={when.value} onChange={(event) => (when.value = event.currentTarget.value)}>
          {AFTER.map(([minutes, name]) => (
            <option key={minutes} value={String(minutes)}>
              {name}
            </option>
          ))}
          <option value={TOMORROW}>tomorrow at 9</option>
          <option value={AT}>at a time…</option>
        </select>
      </label>
      {when.value === AT && (
        <label>
          <span>Time</span>
          <input
            type="datetime-local"
            required
            value={at.value}
            onInput={(event) => (at.value = event.currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="primary" disabled={busy.value}>
        Remind me
      </button>
      {problem.value !== null && (
        <p class="job-problem" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  );
}
