/** The agents, their processes, and one of them in detail: read when somebody looks, and again when turns begin and end. */
import { effect, signal } from "@preact/signals";
import type { AgentDetails, AgentList } from "../../src/contracts/agents-api.ts";
import type { Role } from "../../src/contracts/ids.ts";
import { readJson } from "../net/api.ts";
import { line, status } from "./console-state.ts";
import { activityNews } from "./news.ts";
import { soon } from "./soon.ts";

const AGAIN_MS = 500;

export const agents = signal<AgentList | null | "failed">(null);
export const openAgent = signal<string | null>(null);
export const openRole = signal<Role>("owner");
export const details = signal<AgentDetails | null | "failed">(null);

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followAgents(): () => void {
  let first = true;
  return effect(() => {
    void activityNews.value;
    void status.value; // also after a change of the configuration
    if (line.value !== "open") return;
    soon("agents", first ? 0 : AGAIN_MS, () => void readAgents());
    first = false;
  });
}

async function readAgents(): Promise<void> {
  const answer = await readJson<AgentList>("/api/agents");
  if (answer.ok) agents.value = answer.value;
  else if (agents.value === null) agents.value = "failed";
  if (openAgent.value !== null) await readDetails();
}

/** Null closes it. */
export function showAgent(id: string | null, role: Role = "owner"): void {
  openAgent.value = id;
  openRole.value = role;
  details.value = null;
  if (id !== null) void readDetails();
}

async function readDetails(): Promise<void> {
  const id = openAgent.value ?? "";
  const role = openRole.value;
  const answer = await readJson<{ agent: AgentDetails }>(`/api/agents/${encodeURIComponent(id)}?role=${role}`);
  if (openAgent.value !== id || openRole.value !== role) return; // somebody looks at another one meanwhile
  if (answer.ok) details.value = answer.value.agent;
  else if (details.value === null) details.value = "failed";
}
