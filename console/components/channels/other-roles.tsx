/** People who have a role without having asked for access by a code: named in the settings, or by an owner. */
import { otherRoles } from "../../state/people.ts";
import { Table } from "../parts/table.tsx";

const FROM = { configuration: "the settings (roles)", chat: "an owner" } as const;

export function OtherRoles() {
  if (otherRoles.value.length === 0) return null;
  return (
    <section class="part">
      <h2>Others with a role</h2>
      <Table
        name="Others with a role"
        testId="other-roles"
        columns={["Person", "Role", "Given by"]}
        rows={otherRoles.value}
        keyOf={({ principal }) => principal}
        cells={({ principal, role, from }) => [<code>{principal}</code>, role, FROM[from]]}
      />
    </section>
  );
}
