/** Puts the tools together: which there are, the rules of the configuration, the gate, the record with its retention; and where plugins come from. */
import { join } from "node:path";
import { agentProfiles, createAgentTokens, createSkillShelf, profileKey } from "../agents/index.ts";
import { builtinPlugins, DISABLED_IDS } from "../builtin.ts";
import type { Config } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { Channel } from "../contracts/channel.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { Hooks } from "../contracts/plugins/hooks.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool, ToolFactory } from "../contracts/tools/tool.ts";
import { createPoster } from "../delivery/index.ts";
import { createQuestions } from "../flow/index.ts";
import type { GatewayDeps, GatewayOptions } from "../gateway.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import type { PluginsOptions } from "../plugins/index.ts";
import { type BackgroundEndDeps, tellBackgroundEnd } from "./background-end.ts";
import { isOwnerNow } from "../rights.ts";
import {
  type ApprovalsDeps,
  type BackgroundEnd,
  createApprovals,
  createToolGate,
  createToolLister,
  createToolRegistry,
  startRetention,
  type ToolPolicy,
  whyNotUsable,
} from "../tools/index.ts";

export interface ToolSideDeps extends GatewayDeps {
  readonly events: Events;
  readonly hooks: Hooks;
  readonly rights: Rights;
  readonly record: Pick<Store, "toolCalls" | "approvals" | "outbox">;
  /** Tells the end of a background tool; made later than the tools. */
  automation: BackgroundEndDeps["automation"];
  /** Where people are asked; made later as well. */
  channels(): { get(id: string): Channel | undefined };
  outbox(): Outbox;
}

export function openToolSide(life: Lifetime, deps: ToolSideDeps, config: () => Config) {
  const registry = createToolRegistry(deps);
  const { toolCalls, approvals: questions } = deps.record;
  const mayDecide: ApprovalsDeps["mayDecide"] = (by, at) => isOwnerNow(deps.rights, by, at);
  const approvals = createApprovals({ ...deps, store: questions, mayDecide }, () => config().tools.approvals);
  const guards = { policy: policyFrom(config), hooks: deps.hooks, rights: deps.rights, approvals };
  const runLimits = () => config().tools.execution;
  const backgroundEnded = (end: BackgroundEnd) => void tellBackgroundEnd(deps, end);
  const tools = life.own(
    "tools",
    createToolGate({ ...deps, ...guards, store: toolCalls, registry, runLimits, backgroundEnded }),
  );
  const prune = async (before: number) => (await toolCalls.prune(before)) + (await questions.prune(before));
  life.own(
    "retention of tool calls",
    startRetention({ ...deps, store: { prune } }, () => config().tools.keepDays),
  );
  const poster = createPoster({ ...deps, store: deps.record.outbox, outbox: { wake: () => deps.outbox().wake() } });
  const asking = createQuestions({ ...deps, poster }, () => config().tools.questions);
  const skills = createSkillShelf();
  const unusable = (tool: string, caller: Caller) => whyNotUsable({ ...guards, registry }, tool, caller);
  const agents = () => [...new Set([...agentProfiles(config()).values()].map(({ id }) => id))];
  return {
    registry,
    list: createToolLister({ registry, policy: guards.policy, agents }),
    tools,
    poster,
    approvals,
    questions: asking,
    agentTokens: createAgentTokens(deps),
    skills,
    unusable,
  };
}

/** Read for every call, so a changed file counts from the next one on. */
function policyFrom(config: () => Config): () => ToolPolicy {
  let known: { readonly from: Config; readonly policy: ToolPolicy } | null = null;
  return () => {
    const from = config();
    if (known?.from !== from) known = { from, policy: toolPolicyOf(from) };
    return known.policy;
  };
}

export function toolPolicyOf(config: Config): ToolPolicy {
  const profiles = agentProfiles(config);
  return {
    ...config.tools,
    profile: (agentId, role) => profiles.get(profileKey(agentId, role))?.config.tools ?? "chat",
  };
}

/** The gateway's own tools come by the same door as everybody's. */
export function pluginOptions(
  config: () => Config,
  options: GatewayOptions,
  own: () => readonly (Tool | ToolFactory)[],
): PluginsOptions {
  return {
    ...options,
    userHome: options.environment.userHome,
    builtin: builtinPlugins(own),
    disabledIds: DISABLED_IDS,
    config: () => config().plugins,
    agentFolders: () => agentWorkspaces(config(), options),
  };
}

/** Where agents write: no plugin is loaded from there. */
function agentWorkspaces({ agent, agents, roles }: Config, { home, environment }: GatewayOptions): readonly string[] {
  const all = [agent, ...agents, ...Object.values(roles.profiles)];
  const given = all.flatMap((one) => (one?.workspace === undefined ? [] : [one.workspace]));
  const expand = (path: string) => (/^~(?=$|\/)/.test(path) ? join(environment.userHome, path.slice(1)) : path);
  return [join(home, "workspace"), ...given.map(expand)];
}
