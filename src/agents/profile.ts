/**
 * What makes the processes of one agent and role different from others. The hard part must match exactly; the soft part (skills, extensions,
 * prompt templates) may be more than was asked for. Pure.
 */
import type { Config, ToolsFilter } from "../config/index.ts";
import { DEFAULT_AGENT, type AgentId, type Role } from "../contracts/ids.ts";
import { type GatewayFeatures, NO_FEATURES, systemPrompt } from "./setup/system-prompt.ts";

export interface AgentProfile {
  readonly id: AgentId;
  readonly role: Role;
  /** The settings of `agent`, with this agent's own in their place, and those of the role before both. */
  readonly config: Config["agent"];
}

/** What processes are compared by. */
export interface ProfileSignature {
  /** Equal for processes that could not be told apart. Person and role are not in it: a process belongs to those it served first. */
  readonly hard: string;
  readonly soft: readonly string[];
}

const ROLES: readonly Role[] = ["owner", "member", "guest"];
/** What pi brings itself. */
const PI_FILE_TOOLS: readonly string[] = ["read", "write", "edit", "grep", "find", "ls"];
const PI_SHELLS: readonly string[] = ["bash", "powershell"];

type ProfileConfig = Pick<Config, "agent" | "agents"> & { readonly roles?: Pick<Config["roles"], "profiles"> };

/** One for every agent and role, by `profileKey`. */
export function agentProfiles({ agent, agents, roles }: ProfileConfig): ReadonlyMap<string, AgentProfile> {
  const listed = agents.map(({ id, role: _cap, description: _words, delegates: _asked, gatewayPrompts, ...own }) => ({
    id: id as AgentId,
    config: { ...agent, ...own, gatewayPrompts: { ...agent.gatewayPrompts, ...gatewayPrompts } },
  }));
  const all = [{ id: DEFAULT_AGENT, config: agent }, ...listed].flatMap(({ id, config }) =>
    ROLES.map((role) => ({ id, role, config: { ...config, ...forRole(config, role, roles?.profiles[role]) } })),
  );
  return new Map(all.map((profile) => [profileKey(profile.id, profile.role), profile]));
}

export function profileKey(id: AgentId, role: Role): string {
  return `${id}/${role}`;
}

/** pi tools reach the machine, so only owners get them, unless the role says otherwise itself. */
function forRole(config: Config["agent"], role: Role, own: Config["roles"]["profiles"][Role]) {
  const tools = own?.tools ?? (role === "owner" ? config.tools : withoutPiTools(config.tools));
  return { ...own, tools };
}

function withoutPiTools(tools: ToolsFilter): ToolsFilter {
  if (typeof tools === "string") return "chat";
  return tools.filter((name) => !PI_FILE_TOOLS.includes(name) && !PI_SHELLS.includes(name));
}

/** The environment of a process follows from its model, its folders and the gateway's own environment, so it needs no place of its own. */
export function profileSignature(
  { config }: Pick<AgentProfile, "config">,
  features: GatewayFeatures = NO_FEATURES,
): ProfileSignature {
  const { model, thinking, workspace, tools, bridge, agentDir, piPath, timeoutMs } = config;
  const own = [model, thinking, workspace, tools, bridge, agentDir, piPath, timeoutMs];
  const parts = [...own, systemPrompt(config, features)];
  const hard = new Bun.CryptoHasher("sha256").update(JSON.stringify(parts.map((part) => part ?? null))).digest("hex");
  const named = (kind: string, paths: readonly string[]) => paths.map((path) => `${kind}:${path}`);
  const { skills, extensions, promptTemplates } = config;
  const soft = [...named("skill", skills), ...named("extension", extensions), ...named("template", promptTemplates)];
  return { hard, soft: [...new Set(soft)].sort() };
}

/** Skills of plugins are soft like an agent's own. */
export function withPluginSkills({ hard, soft }: ProfileSignature, pluginSkills: readonly string[]): ProfileSignature {
  return { hard, soft: [...new Set([...soft, ...pluginSkills.map((path) => `skill:${path}`)])].sort() };
}

/** A process with this signature can do everything that is wanted. */
export function covers(has: ProfileSignature, wanted: ProfileSignature): boolean {
  return has.hard === wanted.hard && wanted.soft.every((one) => has.soft.includes(one));
}

export function sameSignature(one: ProfileSignature, other: ProfileSignature): boolean {
  return covers(one, other) && covers(other, one);
}

/** Below the state directory: pi's settings of this agent. A role has its own where it differs from owners. */
export function profileFolder(id: AgentId, role: Role = "owner"): readonly string[] {
  if (role !== "owner") return ["roles", role, id];
  return id === DEFAULT_AGENT ? ["agent"] : ["agents", id];
}
