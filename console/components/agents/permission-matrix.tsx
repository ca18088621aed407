/** Tools down, origins across: may it be called from there, must an owner say yes first, or not at all; with the reason in each cell. */
import { useSignal } from "@preact/signals";
import type { Permission, PermissionCell, ToolPermissions } from "../../../src/contracts/agents-api.ts";
import type { Role } from "../../../src/contracts/ids.ts";
import type { ToolOrigin } from "../../../src/contracts/tools/tool.ts";
import { FindField } from "../parts/find-field.tsx";
import { Table } from "../parts/table.tsx";

const ORIGINS: Readonly<Record<ToolOrigin, string>> = {
  chat: "Chat",
  group: "Group",
  cron: "Job",
  heartbeat: "Heartbeat",
  webhook: "Webhook",
  delegate: "Agent",
  api: "API",
  mcp: "MCP",
};
const SIGNS: Readonly<Record<Permission, readonly [sign: string, word: string]>> = {
  yes: ["✓", "yes"],
  ask: ["?", "after approval"],
  no: ["–", "no"],
};
/** With fewer a field to find one would only be in the way. */
const MANY_TOOLS = 12;

interface Props {
  readonly rows: readonly ToolPermissions[];
  readonly role: Role;
}

export function PermissionMatrix({ rows, role }: Props) {
  const typed = useSignal("");
  const reason = useSignal("");
  const shown = rows.filter(({ tool }) => tool.includes(typed.value.trim().toLowerCase()));
  return (
    <>
      <p class="about" role="status" data-testid="reason">
        {reason.value || "✓ yes · ? after approval · – no. Each cell says why."}
      </p>
      {rows.length > MANY_TOOLS && (
        <FindField name="Find a tool" value={typed.value} onTyped={(text) => (typed.value = text)} />
      )}
      <Table
        name="Permissions"
        look="matrix"
        testId="matrix"
        columns={["Tool", ...Object.values(ORIGINS)]}
        rows={shown}
        keyOf={({ byPi, tool }) => `${byPi} ${tool}`}
        cells={({ tool, byPi, cells }) => [
          <>
            <code>{tool}</code>
            {byPi && <small> pi</small>}
          </>,
          ...(Object.keys(ORIGINS) as ToolOrigin[]).map((origin) => (
            <Cell
              cell={cells.find((one) => one.role === role && one.origin === origin)}
              onPress={(why) => (reason.value = `${tool}, ${ORIGINS[origin]}: ${why}`)}
            />
          )),
        ]}
      />
      {shown.length === 0 && <p class="faint">No tool is called so.</p>}
    </>
  );
}

interface CellProps {
  readonly cell: PermissionCell | undefined;
  /** For fingers, which cannot hover; screen readers have the reason in the cell. */
  readonly onPress: (why: string) => void;
}

function Cell({ cell, onPress }: CellProps) {
  if (!cell) return null;
  const [sign, word] = SIGNS[cell.may];
  const why = `${word}: ${cell.because}`;
  return (
    <span data-may={cell.may} title={why} onClick={() => onPress(why)}>
      <span aria-hidden="true">{sign}</span>
      <span class="hidden">{why}</span>
    </span>
  );
}
