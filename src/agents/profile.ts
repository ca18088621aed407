/** What makes one agent different from another. Processes are shared only between sessions whose agents have the same signature. */
import type { Config } from "../config/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import { systemPrompt } from "./setup/persona.ts";

export interface AgentProfile {
  readonly id: AgentId;
  /** The settings of `agent`, with this agent's own in their place. */
  readonly config: Config["agent"];
}

/** There without being listed. */
export const DEFAULT_AGENT = "default" as AgentId;

export function agentProfiles({ agent, agents }: Pick<Config, "agent" | "agents">): ReadonlyMap<AgentId, AgentProfile> {
  const listed = agents.map(({ id, role: _role, ...own }) => ({ id: id as AgentId, config: { ...agent, ...own } }));
  return new Map([{ id: DEFAULT_AGENT, config: agent }, ...listed].map((profile) => [profile.id, profile]));
}

/** Equal for profiles whose processes could not be told apart. The person is not in it: a process belongs to one anyway. */
export function profileSignature({ config }: AgentProfile): string {
  const { model, thinking, workspace, agentDir, piPath, timeoutMs, bridge, tools } = config;
  const parts = [model, thinking, systemPrompt(config), workspace, agentDir, piPath, timeoutMs, bridge, tools];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts.map((part) => part ?? null))).digest("hex");
}

/** Below the state directory: pi's settings of this agent. */
export function profileFolder(id: AgentId): readonly string[] {
  return id === DEFAULT_AGENT ? ["agent"] : ["agents", id];
}
