/** Another role for somebody who has access: chosen, and then given by a button that names it. */
import { useSignal } from "@preact/signals";
import type { Role } from "../../../src/contracts/ids.ts";
import { changeRole } from "../../state/people.ts";
import { SelectField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

export const ROLES: readonly (readonly [Role, string])[] = [
  ["member", "Member"],
  ["guest", "Guest"],
  ["owner", "Owner: may do everything"],
];

interface Props {
  readonly principal: string;
  readonly name: string;
  readonly role: Role;
}

export function ChangeRole({ principal, name, role }: Props) {
  const chosen = useSignal<string>(role);
  const { busy, problem, run } = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(() => changeRole(principal, chosen.value as Role));
  };
  return (
    <details class="may-do">
      <summary>Change the role</summary>
      <form class="form" aria-label={`Another role for ${name}`} onSubmit={submit}>
        <SelectField label="Role" value={chosen} choices={ROLES} />
        <button type="submit" class="primary" disabled={busy || chosen.value === role}>
          Make {chosen.value}
        </button>
      </form>
      <Problem text={problem} />
    </details>
  );
}
