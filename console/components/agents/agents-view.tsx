/** The agents: what each is set up with, what it may do for whom, what it is told, and the processes that run now. */
import { useEffect } from "preact/hooks";
import type { AgentSummary } from "../../../src/contracts/agents-api.ts";
import { agents, followAgents, openAgent, showAgent } from "../../state/agents-state.ts";
import { Icon } from "../icons.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { AgentDetail } from "./agent-detail.tsx";
import { Processes } from "./processes.tsx";

export function AgentsView() {
  useEffect(followAgents, []);
  const now = agents.value;
  return (
    <ViewFrame name="Agents" testId="agents-view">
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && (
        <EmptyState title="The agents could not be read.">
          <p>Is the gateway connected?</p>
        </EmptyState>
      )}
      {now !== null && now !== "failed" && (
        <>
          <section class="part">
            <h2 class="hidden">Agents</h2>
            <ul class="tool-list" aria-label="Agents">
              {now.items.map((agent) => (
                <li key={agent.id}>
                  <OneAgent agent={agent} />
                </li>
              ))}
            </ul>
          </section>
          <Processes processes={now.processes} />
        </>
      )}
    </ViewFrame>
  );
}

function OneAgent({ agent }: { readonly agent: AgentSummary }) {
  const { id, description, model, trouble } = agent;
  const open = openAgent.value === id;
  return (
    <div class="tool" data-testid="agent" data-status={trouble === null ? "success" : "error"}>
      <button type="button" class="tool-line" aria-expanded={open} onClick={() => showAgent(open ? null : id)}>
        <span class="tool-status">
          <Icon name={trouble === null ? "agent" : "alert"} size={16} />
        </span>
        <strong class="row-name">{id}</strong>
        <span class="tool-word">{model ?? "pi chooses the model"}</span>
        <span class="tool-flags" dir="auto">
          {trouble ?? description}
        </span>
        <Icon name="chevron" size={16} />
      </button>
      {open && <AgentDetail agent={agent} />}
    </div>
  );
}
