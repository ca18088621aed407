/** Makes a key: for which program, what it may do, for which agents, for how long. */
import { useSignal } from "@preact/signals";
import type { KeyScope } from "../../../src/contracts/api-keys.ts";
import { addKey } from "../../state/keys-state.ts";

const MAX_NAME = 80;
const MAX_AGENTS = 1_000;
const SCOPES: readonly { readonly scope: KeyScope; readonly says: string }[] = [
  { scope: "chat", says: "Chat: speak in sessions of its own" },
  { scope: "tools", says: "Tools: list and call tools" },
  { scope: "read", says: "Read: every session, usage, status" },
  { scope: "admin", says: "Admin: everything you may do" },
];
const EXPIRIES = [
  ["30d", "in 30 days"],
  ["90d", "in 90 days"],
  ["365d", "in a year"],
  ["", "never"],
] as const;

export function KeyForm() {
  const name = useSignal("");
  const scopes = useSignal<readonly KeyScope[]>(["chat"]);
  const agents = useSignal("");
  const expiresIn = useSignal("90d");
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const complete = name.value.trim() !== "" && scopes.value.length > 0;
  const toggle = (scope: KeyScope, on: boolean): void => {
    scopes.value = on ? [...scopes.value, scope] : scopes.value.filter((one) => one !== scope);
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!complete || busy.value) return;
    busy.value = true;
    const named = agents.value.split(/[\s,]+/).filter((one) => one !== "");
    problem.value = await addKey({
      name: name.value.trim(),
      scopes: scopes.value,
      ...(named.length > 0 ? { agents: named } : {}),
      ...(expiresIn.value === "" ? {} : { expiresIn: expiresIn.value }),
    });
    busy.value = false;
    if (problem.value === null) name.value = "";
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
        <span>Agents</span>
        <input
          type="text"
          maxLength={MAX_AGENTS}
          placeholder="all"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={agents.value}
          onInput={(event) => (agents.value = event.currentTarget.value)}
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
      <fieldset class="key-scopes">
        <legend>What it may do</legend>
        {SCOPES.map(({ scope, says }) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.value.includes(scope)}
              onChange={(event) => toggle(scope, event.currentTarget.checked)}
            />
            <span>{says}</span>
          </label>
        ))}
      </fieldset>
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
