/** One agent for one role: its settings, its permissions, and the instructions that its model gets. */
import type { AgentSummary } from "../../../src/contracts/agents-api.ts";
import type { Role } from "../../../src/contracts/ids.ts";
import { details, openRole, showAgent } from "../../state/agents-state.ts";
import { CopyButton } from "../copy-button.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Verbatim } from "../parts/verbatim.tsx";
import { PermissionMatrix } from "./permission-matrix.tsx";

const ROLES: Readonly<Record<Role, string>> = { owner: "For an owner", member: "For a member", guest: "For a guest" };

export function AgentDetail({ agent }: { readonly agent: AgentSummary }) {
  const found = details.value;
  return (
    <div class="tool-body">
      <label class="field agent-role">
        <span class="hidden">Role</span>
        <select
          aria-label="Role"
          value={openRole.value}
          onChange={(event) => showAgent(agent.id, event.currentTarget.value as Role)}
        >
          {Object.entries(ROLES).map(([role, words]) => (
            <option key={role} value={role}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {found === null && <p class="faint">Reading…</p>}
      {found === "failed" && <p class="tool-reason">This agent could not be read.</p>}
      {found !== null && found !== "failed" && (
        <>
          <Settings agent={found} />
          <section>
            <h3 class="label">What it may do</h3>
            <PermissionMatrix rows={found.permissions} role={found.role} />
          </section>
          <section>
            <h3 class="label">
              Instructions, as the model gets them. pi adds its list of skills and the working folder.{" "}
              <CopyButton text={found.prompt} label="Copy the instructions" />
            </h3>
            <Verbatim name="Instructions" testId="prompt">
              {found.prompt}
            </Verbatim>
          </section>
        </>
      )}
    </div>
  );
}

function Settings({ agent }: { readonly agent: AgentSummary }) {
  const facts: readonly (readonly [string, string])[] = [
    ["Model", `${agent.model ?? "pi chooses"} (${agent.modelBecause})`],
    ["Fallbacks", agent.fallbacks.join(", ")],
    ["Thinking", agent.thinking ?? ""],
    ["Works in", agent.workspace],
    ["Sandbox", agent.sandbox],
    ["Skills", agent.skills.join(", ")],
    ["Extensions", agent.extensions.join(", ")],
    ["Prompt templates", agent.promptTemplates.join(", ")],
    ["Trouble", agent.trouble ?? ""],
  ];
  return <FactList facts={facts} />;
}
