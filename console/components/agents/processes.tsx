/** The processes that run now, the wall around them, and whom each serves. */
import type { AgentProcess } from "../../../src/contracts/agent.ts";
import { duration } from "../../net/error-text.ts";
import { status } from "../../state/console-state.ts";
import { Table } from "../parts/table.tsx";

const STATES: Readonly<Record<AgentProcess["state"], string>> = { starting: "Starting", idle: "Idle", busy: "Working" };

export function Processes({ processes }: { readonly processes: readonly AgentProcess[] }) {
  const now = status.value;
  return (
    <section class="part">
      <h2>Processes</h2>
      {now && (
        <p class="about" data-testid="sandbox-line">
          {sandboxText(now.sandbox)} At most {now.pool.max} processes: {now.pool.maxBecause}.
        </p>
      )}
      {now?.agentTrouble && <p class="tool-reason">{now.agentTrouble}</p>}
      {processes.length === 0 ? (
        <p class="about">None runs. One is started with the next message.</p>
      ) : (
        <Table
          name="Processes"
          testId="processes"
          columns={["Process", "Agent", "State", "Since", "Serves"]}
          rows={processes}
          keyOf={({ id }) => String(id)}
          cells={({ pid, agentId, state, sinceMs, person, role }) => [
            pid ?? "not started yet",
            agentId,
            STATES[state],
            duration(sinceMs),
            person === null ? "nobody yet" : `${person}, ${role}`,
          ]}
        />
      )}
    </section>
  );
}

type Sandbox = NonNullable<(typeof status)["value"]>["sandbox"];

function sandboxText({ setting, tier, because }: Sandbox): string {
  if (setting === "off") return "The sandbox is switched off (agent.sandbox).";
  return tier === "none" ? `No sandbox can be built here: ${because}` : `Sandbox: ${tier}. ${because}`;
}
