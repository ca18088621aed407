/** The heartbeat settings of each agent, and what an owner reads when a provider rejects its runs. */
import type { Config } from "../../config/index.ts";
import { type AgentId, DEFAULT_AGENT } from "../../contracts/ids.ts";
import type { HeartbeatRefusal, HeartbeatSettings } from "./heartbeat.ts";

/** The first is the default agent. */
export function heartbeatsOf({
  heartbeat,
  agents,
}: Pick<Config, "heartbeat" | "agents">): readonly HeartbeatSettings[] {
  const others = agents.map(({ id, heartbeat: own = {} }) => ({
    ...heartbeat,
    ...own,
    agentId: id as AgentId,
    withoutChecklist: own.enabled === true, // nobody says that of an agent that has nothing to look after
  }));
  return [{ ...heartbeat, agentId: DEFAULT_AGENT, withoutChecklist: true }, ...others];
}

const DAY_MS = 86_400_000;

/** Agent, reason and day: a restart does not tell the owner again on the same day. */
export function refusalId({ agentId, code, at }: HeartbeatRefusal): string {
  return `heartbeat-refused-${agentId}-${code}-${Math.floor(at / DAY_MS)}`;
}

const CAUSES: Readonly<Record<string, string>> = {
  provider_auth: "rejects the API key. Check the key of this provider in the settings",
  provider_unpaid: "wants to be paid first. Look at the credits and the billing of this account there",
  model_missing: "does not have the configured model, or has no key. Check the model and the key",
};

export function refusalText(
  { agent, agents }: Pick<Config, "agent" | "agents">,
  { agentId, code }: HeartbeatRefusal,
): string {
  const model = agents.find(({ id }) => id === agentId)?.model ?? agent.model;
  const provider = model?.split("/")[0] ?? "The model provider";
  const cause = CAUSES[code] ?? "does not accept the request. The gateway's log has the reason";
  return `The heartbeat of ${agentId} does not work: ${provider} ${cause}. It is tried a few times more and then waits until a turn works again.`;
}
