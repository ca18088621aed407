/** Heartbeats: which agents look after something by themselves, how often, and the checklist of each, which is written here. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { HeartbeatCard } from "../../../src/contracts/automation/heartbeat.ts";
import { heartbeats, readHeartbeats, writeChecklist } from "../../state/automations-state.ts";
import { line, status } from "../../state/console-state.ts";
import { ADDRESSES } from "../../state/route.ts";
import { duration } from "../../net/error-text.ts";
import { TextArea } from "../parts/fields.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { AUTOMATION_TABS } from "./automation-tabs.ts";

const MAX_CHARS = 16_000;
const ROWS = 8;
const EXAMPLE = "- Is there mail that cannot wait?\n- Did last night's backup run?";

export function HeartbeatView() {
  useEffect(() => void readHeartbeats(), [line.value, status.value?.config]);
  const now = heartbeats.value;
  return (
    <ViewFrame name="Automations" testId="heartbeat-view" tabs={AUTOMATION_TABS}>
      <p class="about">
        From time to time an agent goes through its checklist by itself, and speaks up only when something needs
        attention. An empty checklist costs nothing.
      </p>
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && <p class="list-note">The heartbeats could not be read. Is the gateway connected?</p>}
      {now !== null && now !== "failed" && (
        <ul class="tool-list" aria-label="Heartbeats">
          {now.map((card) => (
            <li key={card.agentId}>
              <OneHeartbeat card={card} />
            </li>
          ))}
        </ul>
      )}
    </ViewFrame>
  );
}

function OneHeartbeat({ card }: { readonly card: HeartbeatCard }) {
  const { agentId, enabled, everyMs, activeHours, checklist, file } = card;
  const { start = "00:00", end = "24:00", timezone } = activeHours;
  const hours = activeHours.start === undefined && activeHours.end === undefined ? "any time" : `${start} to ${end}`;
  return (
    <section class="tool card" data-testid="heartbeat" aria-label={`Heartbeat of ${agentId}`}>
      <h2>
        {agentId} <small>{enabled ? "on" : "off"}</small>
      </h2>
      <FactList
        facts={[
          ["Every", duration(everyMs)],
          ["When", `${hours}${timezone === undefined ? "" : `, ${timezone}`}`],
          ["Checklist", file ?? "none: this agent has no folder of its own (agents[].workspace)"],
        ]}
      />
      {!enabled && (
        <p class="about">
          It is switched off: <a href={ADDRESSES.settings}>Settings</a> has <code>heartbeat.enabled</code>, and{" "}
          <code>agents</code> for one agent.
        </p>
      )}
      {file !== null && <Checklist key={checklist} agentId={agentId} saved={checklist} />}
    </section>
  );
}

/** Somebody else's change brings a new key, and with it the new text. */
function Checklist({ agentId, saved }: { readonly agentId: string; readonly saved: string | null }) {
  const text = useSignal(saved ?? "");
  const { busy, problem, run } = useAction();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void run(() => writeChecklist(agentId, text.value, saved));
  };
  return (
    <form class="form" aria-label={`Checklist of ${agentId}`} onSubmit={submit}>
      <TextArea
        label={`What ${agentId} looks after`}
        value={text}
        rows={ROWS}
        maxLength={MAX_CHARS}
        placeholder={EXAMPLE}
      />
      <button type="submit" class="primary" disabled={busy || text.value === (saved ?? "")}>
        Save checklist
      </button>
      <Problem text={problem} />
    </form>
  );
}
