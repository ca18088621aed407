/**
 * What makes the processes of one agent and role different from others. The hard part must match exactly; the soft part (skills, extensions,
 * prompt templates) may be more than was asked for. Pure.
 */
import type { Config, ToolsFilter } from "../config/index.ts";
import { DEFAULT_AGENT, type AgentId, type Role } from "../contracts/ids.ts";
import type { SandboxTier } from "../contracts/sandbox.ts";
import { type GatewayFeatures, NO_FEATURES, systemPrompt } from "./setup/system-prompt.ts";
import { overriddenWorkspace } from "./setup/workspace.ts";
import { settledTools, withoutPiTools } from "./tools/pi-tools.ts";

export interface AgentProfile {
  readonly id: AgentId;
  readonly role: Role;
  /** The settings of `agent`, with this agent's own in their place, and those of the role before both. */
  readonly config: Config["agent"] & { readonly tools: ToolsFilter };
}

/** What processes are compared by. */
export interface ProfileSignature {
  /** A digest of everything that must match exactly. Person and role are not in it: choose.ts keeps a process to those it served first. */
  readonly hard: string;
  readonly soft: readonly string[];
}

const ROLES: readonly Role[] = ["owner", "member", "guest"];

type ProfileConfig = Pick<Config, "agent" | "agents"> & { readonly roles?: Pick<Config["roles"], "profiles"> };

/** One for every agent and role, by `profileKey`. `tier`: of the wall around their processes; it decides which pi tools they have. */
export function agentProfiles(
  { agent, agents, roles }: ProfileConfig,
  tier: SandboxTier = "none",
): ReadonlyMap<string, AgentProfile> {
  const listed = agents.map(({ id, role: _role, description: _text, delegates: _ids, gatewayPrompts, ...own }) => {
    const prompts = overridden(agent.gatewayPrompts, gatewayPrompts);
    const workspace = overriddenWorkspace(agent.workspace, own.workspace);
    return { id: id as AgentId, config: { ...overridden({ ...agent, gatewayPrompts: prompts }, own), workspace } };
  });
  const all = [{ id: DEFAULT_AGENT, config: agent }, ...listed].flatMap(({ id, config }) =>
    ROLES.map((role) => {
      const settings = forRole(config, role, roles?.profiles[role]);
      return { id, role, config: { ...settings, tools: settledTools(settings, role, tier) } };
    }),
  );
  return new Map(all.map((profile) => [profileKey(profile.id, profile.role), profile]));
}

export function profileKey(id: AgentId, role: Role): string {
  return `${id}/${role}`;
}

/** pi tools reach the machine, so only owners get them, unless the role says otherwise itself. */
function forRole(config: Config["agent"], role: Role, own: Config["roles"]["profiles"][Role]): Config["agent"] {
  const forAll = role === "owner" ? config : { ...config, tools: withoutPiTools(config.tools) };
  const workspace = overriddenWorkspace(config.workspace, own?.workspace);
  return { ...overridden(forAll, own), workspace };
}

/** Settings, with those of an agent or a role in their place. */
function overridden<T extends object, O extends object>(settings: T, own: O | undefined): T & O {
  return { ...settings, ...own } as T & O;
}

/** The environment of a process is not in it: it follows from the model, the folders and the gateway's own environment. */
export function profileSignature(
  { config }: Pick<AgentProfile, "config">,
  features: GatewayFeatures = NO_FEATURES,
  pluginSkills: readonly string[] = [],
): ProfileSignature {
  const { model, thinking, workspace, tools, bridge, agentDir, piPath, timeoutMs } = config;
  const { sandbox, network, folders, limits } = config;
  const wall = [sandbox, network, folders, limits];
  const next = [config.fallbacks, config.fallbackAfterMs];
  const own = [model, thinking, workspace, tools, bridge, agentDir, piPath, timeoutMs, ...wall, ...next];
  const parts = [...own, systemPrompt(config, features)];
  const hard = new Bun.CryptoHasher("sha256").update(JSON.stringify(parts.map((part) => part ?? null))).digest("hex");
  const named = (kind: string, paths: readonly string[]) => paths.map((path) => `${kind}:${path}`);
  const { skills, extensions, promptTemplates } = config;
  const allSkills = named("skill", [...skills, ...pluginSkills]);
  const soft = [...allSkills, ...named("extension", extensions), ...named("template", promptTemplates)];
  return { hard, soft: [...new Set(soft)].sort() };
}

/** A process with this signature can do everything that is wanted. */
export function covers(has: ProfileSignature, wanted: ProfileSignature): boolean {
  return has.hard === wanted.hard && wanted.soft.every((one) => has.soft.includes(one));
}

/** Below the state directory: pi's settings of this agent. A role has its own where it differs from owners. */
export function profileFolder(id: AgentId, role: Role = "owner"): readonly string[] {
  if (role !== "owner") return ["roles", role, id];
  return id === DEFAULT_AGENT ? ["agent"] : ["agents", id];
}
