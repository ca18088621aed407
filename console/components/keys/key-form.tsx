/** Makes a key: for which program, what it may do, for how long, within which limits. */
import { useSignal } from "@preact/signals";
import type { KeyScope } from "../../../src/contracts/api-keys.ts";
import { addKey } from "../../state/keys-state.ts";
import { KeyLimits, limitsOf, useLimits } from "./key-limits.tsx";
import { KeyScopes } from "./key-scopes.tsx";

const MAX_NAME = 80;
const EXPIRIES = [
  ["30d", "in 30 days"],
  ["90d", "in 90 days"],
  ["365d", "in a year"],
  ["", "never"],
] as const;

export function KeyForm() {
  const name = useSignal("");
  const scopes = useSignal<readonly KeyScope[]>(["chat"]);
  const limits = useLimits();
  const expiresIn = useSignal("90d");
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const complete = name.value.trim() !== "" && scopes.value.length > 0;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!complete || busy.value) return;
    busy.value = true;
    problem.value = await addKey({
      name: name.value.trim(),
      scopes: scopes.value,
      ...limitsOf(limits),
      ...(expiresIn.value === "" ? {} : { expiresIn: expiresIn.value }),
    });
    busy.value = false;
    if (problem.value === null) for (const field of [name, ...Object.values(limits)]) field.value = "";
  };
  return (
    <form class="reminder key-form" aria-label="New key" onSubmit={(event) => void submit(event)}>
      <label class="reminder-words">
        <span>Program</span>
        <input
          type="text"
          required
          maxLength={MAX_NAME}
          placeholder="Home Assistant"
          autocomplete="off"
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      </label>
      <label>
        <span>Expires</span>
        <select value={expiresIn.value} onChange={(event) => (expiresIn.value = event.currentTarget.value)}>
          {EXPIRIES.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <KeyScopes scopes={scopes} />
      <KeyLimits fields={limits} />
      <button type="submit" class="primary" disabled={busy.value || !complete}>
        Make key
      </button>
      {problem.value !== null && (
        <p class="job-problem" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  );
}
