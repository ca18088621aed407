/** Tools down, origins across: may it be called from there, must an owner say yes first, or not at all; with the reason in each cell. */
import { useSignal } from "@preact/signals";
import type { Permission, PermissionCell, ToolPermissions } from "../../../src/contracts/agents-api.ts";
import type { Role } from "../../../src/contracts/ids.ts";
import type { ToolOrigin } from "../../../src/contracts/tools/tool.ts";

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
const MAX_TYPED = 100;
/** With fewer a field to find one would only be in the way. */
const MANY_TOOLS = 12;

interface Props {
  readonly rows: readonly ToolPermissions[];
  readonly role: Role;
}

export function PermissionMatrix({ rows, role }: Props) {
  const typed = useSignal("");
  const shown = rows.filter(({ tool }) => tool.includes(typed.value.trim().toLowerCase()));
  return (
    <>
      <p class="about">✓ yes · ? after approval · – no. Each cell says why.</p>
      {rows.length > MANY_TOOLS && (
        <label class="field">
          <span class="hidden">Find a tool</span>
          <input
            type="search"
            aria-label="Find a tool"
            placeholder="Find a tool"
            maxLength={MAX_TYPED}
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>
      )}
      <div class="table-scroll matrix-scroll" tabindex={0} role="region" aria-label="Permissions">
        <table class="table matrix" data-testid="matrix">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              {Object.values(ORIGINS).map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={`${row.byPi} ${row.tool}`}>
                <th scope="row">
                  <code>{row.tool}</code>
                  {row.byPi && <small> pi</small>}
                </th>
                {(Object.keys(ORIGINS) as ToolOrigin[]).map((origin) => (
                  <Cell key={origin} cell={row.cells.find((one) => one.role === role && one.origin === origin)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="faint">No tool is called so.</p>}
    </>
  );
}

function Cell({ cell }: { readonly cell: PermissionCell | undefined }) {
  if (!cell) return <td />;
  const [sign, word] = SIGNS[cell.may];
  return (
    <td data-may={cell.may} title={`${word}: ${cell.because}`}>
      <span aria-hidden="true">{sign}</span>
      <span class="hidden">
        {word}: {cell.because}
      </span>
    </td>
  );
}
