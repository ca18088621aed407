/** What somebody of this role may do with the default agent in a chat: read when it is opened. */
import { useSignal } from "@preact/signals";
import type { Permission, ToolPermissions } from "../../../src/contracts/agents-api.ts";
import type { Role } from "../../../src/contracts/ids.ts";
import { permissionsOf } from "../../state/channels-state.ts";
import { FactList } from "../parts/fact-list.tsx";
import { ADDRESSES } from "../../state/route.ts";

const WORDS: Readonly<Record<Permission, string>> = { yes: "May use", ask: "After approval", no: "Not" };

export function MayDo({ role }: { readonly role: Role }) {
  const rows = useSignal<readonly ToolPermissions[] | null | "failed">(null);
  const read = async (open: boolean) => {
    if (open && rows.value !== null && rows.value !== "failed") return;
    if (open) rows.value = (await permissionsOf(role)) ?? "failed";
  };
  return (
    <details class="may-do" data-testid="may-do" onToggle={(event) => void read(event.currentTarget.open)}>
      <summary>What may they do?</summary>
      {rows.value === null && <p class="faint">Reading…</p>}
      {rows.value === "failed" && <p class="faint">This could not be read.</p>}
      {rows.value !== null && rows.value !== "failed" && <Lists rows={rows.value} role={role} />}
    </details>
  );
}

function Lists({ rows, role }: { readonly rows: readonly ToolPermissions[]; readonly role: Role }) {
  const of = (may: Permission) =>
    rows.flatMap(({ tool, cells }) =>
      cells.some((cell) => cell.role === role && cell.origin === "chat" && cell.may === may) ? [tool] : [],
    );
  return (
    <>
      <FactList
        facts={(Object.keys(WORDS) as Permission[]).map((may) => [WORDS[may], of(may).join(", ") || "nothing"])}
      />
      <p class="about">
        As {role}, in a chat with the default agent. <a href={ADDRESSES.agents}>Agents</a> shows the others, and why.
      </p>
    </>
  );
}
