/** How each agent looks around: what is said for all of them, and what an agent says for itself. Pure. */
import type { Config } from "../config/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import { DEFAULT_AGENT } from "../routing/index.ts";
import type { HeartbeatSettings } from "../schedule/index.ts";

/** The first is the default agent. */
export function heartbeatsOf({
  heartbeat,
  agents,
}: Pick<Config, "heartbeat" | "agents">): readonly HeartbeatSettings[] {
  const others = agents.map(({ id, heartbeat: own = {} }) => ({
    ...{ ...heartbeat, ...own },
    agentId: id as AgentId,
    withoutChecklist: own.enabled === true, // nobody says that of an agent that has nothing to look after
  }));
  return [{ ...heartbeat, agentId: DEFAULT_AGENT, withoutChecklist: true }, ...others];
}
