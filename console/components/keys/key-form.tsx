/** Makes a key: for which program, what it may do, for how long, within which limits. */
import { useSignal } from "@preact/signals";
import type { KeyScope } from "../../../src/contracts/api-keys.ts";
import { addKey } from "../../state/keys-state.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
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
  const { busy, problem, run } = useAction();
  const complete = name.value.trim() !== "" && scopes.value.length > 0;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!complete) return;
    const asked = {
      name: name.value.trim(),
      scopes: scopes.value,
      ...limitsOf(limits),
      ...(expiresIn.value === "" ? {} : { expiresIn: expiresIn.value }),
    };
    if (!(await run(() => addKey(asked)))) return;
    for (const field of [name, ...Object.values(limits)]) field.value = "";
  };
  return (
    <form class="form" aria-label="New key" onSubmit={(event) => void submit(event)}>
      <TextField label="Program" value={name} required maxLength={MAX_NAME} placeholder="Home Assistant" exact wide />
      <SelectField label="Expires" value={expiresIn} choices={EXPIRIES} />
      <KeyScopes scopes={scopes} />
      <KeyLimits fields={limits} />
      <button type="submit" class="primary" disabled={busy || !complete}>
        Make key
      </button>
      <Problem text={problem} />
    </form>
  );
}
