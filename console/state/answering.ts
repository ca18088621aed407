/** Who answers in the open conversation: its agent, model and how much that thinks. Chosen here, decided by the gateway. */
import { batch, computed, signal } from "@preact/signals";
import type { AgentList } from "../../src/contracts/agents-api.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import { readJson, sendJson } from "../net/api.ts";
import { chat, openKey, openSession, shownSends, status } from "./console-state.ts";
import { agentOf, DEFAULT_AGENT, newSessionKey } from "./route.ts";

export type Models = HttpApi["GET /api/models"]["result"];
type Choice = { readonly model?: string | null; readonly thinking?: string | null };

export const agentNames = signal<readonly string[]>([]);
/** Of one agent. Null: being read. */
export const models = signal<{ readonly agent: string; readonly found: Models | string } | null>(null);

export const agent = computed(() => agentOf(openKey.value));
/** Null: as the agent's settings say. */
export const chosenModel = computed(() => chat.value.settings.model);
export const chosenThinking = computed(() => chat.value.settings.thinking);
/** Nothing was said yet, so another agent can still take it over. */
export const isUnused = computed(() => chat.value.items.length === 0 && shownSends.value.length === 0);

/** What the agent's own settings come to, as far as it is known. */
export const usualModel = computed(() => (agent.value === DEFAULT_AGENT ? (status.value?.model.name ?? null) : null));

export async function readChoices(): Promise<void> {
  const asked = agent.value;
  if (models.value?.agent !== asked || typeof models.value.found === "string") models.value = null;
  const [offered, listed] = await Promise.all([
    readJson<Models>(`/api/models?agent=${encodeURIComponent(asked)}`),
    readJson<AgentList>("/api/agents"),
  ]);
  batch(() => {
    if (listed.ok) agentNames.value = listed.value.items.map(({ id }) => id);
    if (agent.value === asked)
      models.value = { agent: asked, found: offered.ok ? offered.value : offered.error.message };
  });
}

/** Null: it holds from the next message on. */
export async function choose(choice: Choice): Promise<string | null> {
  const session = openKey.value;
  const path = `/api/sessions/${encodeURIComponent(session)}/model`;
  const answer = await sendJson<HttpApi["POST /api/sessions/:key/model"]["result"]>("POST", path, choice);
  if (!answer.ok) return answer.error.message;
  if (openKey.value === session) chat.value = { ...chat.value, settings: answer.value };
  return null;
}

/** Another agent is another conversation. */
export function talkTo(name: string): void {
  if (name !== agent.value) openSession(newSessionKey(name));
}
