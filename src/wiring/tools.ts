/** Tools: the registry, who may use what, approvals and questions, and the gate through which every call passes. */
import {
  agentProfiles,
  type AgentTokenMint,
  createAgentTokens,
  createSkillRegistry,
  profileKey,
} from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { ToolPermissions } from "../contracts/agents-api.ts";
import { type ApiKeys, isKeyPrincipal } from "../contracts/api-keys.ts";
import type { AgentId } from "../contracts/ids.ts";
import type { Questions } from "../contracts/channels/question.ts";
import type { SandboxTier } from "../contracts/sandbox.ts";
import type { McpSurface, SkillRegistry } from "../contracts/plugin.ts";
import type { ChatPoster } from "../contracts/store/posts.ts";
import type { ApprovalRules } from "../contracts/tools/approval-rule.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import type { ToolGate, ToolLists } from "../contracts/tools/tool.ts";
import { createPoster } from "../delivery/index.ts";
import { createQuestions } from "../flow/index.ts";
import { createMcpSurface } from "../mcp/server/index.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import { createTopic, type Topic } from "../kit/topic.ts";
import { isOwnerNow } from "../rights.ts";
import { createToolIndex } from "../store/index.ts";
import { shareApprovals, shareQuestions } from "../nodes/index.ts";
import {
  type BackgroundEnd,
  createApprovalRules,
  createApprovals,
  createPermissionMatrix,
  createSessionTools,
  createToolFinder,
  createToolGate,
  createToolLister,
  createToolRegistry,
  type LiveToolRegistry,
  type ToolFinder,
  type ToolPolicy,
  usableTools,
  whyNotUsable,
} from "../tools/index.ts";
import { type Core, ofModule } from "./core.ts";
import type { People } from "./people.ts";

export interface Tools {
  readonly registry: LiveToolRegistry;
  readonly gate: ToolGate & AsyncDisposable;
  list(): ToolLists;
  /** What an agent may do for whom, from where. */
  permissions(agentId: AgentId): readonly ToolPermissions[];
  /** Why this caller could not use a tool; null: nothing is known against it. */
  unusable(tool: string, caller: Caller): string | null;
  /** Of all gateways on the database, as questions are. */
  readonly approvals: Approvals;
  readonly approvalRules: ApprovalRules;
  /** Questions of extensions of pi to people. */
  readonly questions: Questions;
  /** Those that turns of this gateway ask. */
  readonly own: { readonly approvals: Pick<Approvals, "pending">; readonly questions: Pick<Questions, "pending"> };
  readonly poster: ChatPoster;
  readonly agentTokens: AgentTokenMint;
  readonly skills: SkillRegistry;
  /** What plugins show to MCP clients. */
  readonly mcpSurface: McpSurface;
  /** For `tool_search`. */
  readonly finder: ToolFinder;
  /** Ends of tools that went on after their turn. */
  readonly backgroundEnds: Topic<BackgroundEnd>;
}

export function openTools(life: Lifetime, whole: Core, { rights, keys }: People): Tools {
  const core = ofModule(whole, "tools");
  const { clock, ids, log, events, hooks, store, config, channels, secrets } = core;
  const registry = createToolRegistry({ log });
  const { sandbox } = core.options;
  const policy = currentPolicy(config, () => sandbox.report()?.tier ?? "none", keys);
  const approvalRules = createApprovalRules({ clock, log, events, store: store.approvalRules });
  const mayDecide: Parameters<typeof createApprovals>[0]["mayDecide"] = (by, at) => isOwnerNow(rights, by, at);
  const ownApprovals = createApprovals(
    { clock, ids, log, events, store: store.approvals, rules: approvalRules, mayDecide },
    () => config().tools.approvals,
  );
  const approvals = shareApprovals(ownApprovals, { nodes: core.nodes.others, heard: core.nodes.heard });
  const backgroundEnds = createTopic<BackgroundEnd>();
  const sessionTools = createSessionTools({ clock, log, store: store.sessionTools });
  const gate = createToolGate({
    clock,
    ids,
    log,
    events,
    hooks,
    rights,
    approvals,
    policy,
    registry,
    sessionTools,
    store: store.toolCalls,
    countedCalls: core.nodes.counts.of("tool calls"),
    scrub: secrets.scrub,
    mask: secrets.mask,
    runLimits: () => config().tools.execution,
    backgroundEnded: backgroundEnds.publish,
  });
  life.own("tools", gate);
  const index = createToolIndex();
  life.own("index of tools", { [Symbol.asyncDispose]: async () => index[Symbol.dispose]() });
  const poster = createPoster({ clock, store: store.outbox, outbox: { wake: () => core.outboxWake.publish() } });
  const ownQuestions = createQuestions(
    { clock, ids, log, events, poster, channels, mask: secrets.mask },
    () => config().tools.questions,
  );
  const questions = shareQuestions(ownQuestions, { nodes: core.nodes.others, heard: core.nodes.heard });
  const agents = () => [...new Set([...agentProfiles(config()).values()].map(({ id }) => id))];
  return {
    registry,
    gate,
    list: createToolLister({ registry, policy, agents }),
    permissions: createPermissionMatrix({ registry, policy }),
    unusable: (tool, caller) => whyNotUsable({ registry, policy }, tool, caller),
    approvals,
    approvalRules,
    questions,
    own: { approvals: ownApprovals, questions: ownQuestions },
    poster,
    agentTokens: createAgentTokens({ ids, hide: secrets.hide }),
    skills: createSkillRegistry(),
    mcpSurface: createMcpSurface(),
    finder: createToolFinder({ usable: (caller) => usableTools({ registry, policy }, caller), index, sessionTools }),
    backgroundEnds,
  };
}

/** Made anew when the configuration is another one, so a changed file counts from the next call on. */
function currentPolicy(config: () => Config, tier: () => SandboxTier, keys: Pick<ApiKeys, "of">): () => ToolPolicy {
  let made: { readonly from: Config; readonly tier: SandboxTier; readonly policy: ToolPolicy } | null = null;
  return () => {
    const from = config();
    const wall = tier();
    if (made?.from !== from || made.tier !== wall) made = { from, tier: wall, policy: toolPolicyOf(from, wall, keys) };
    return made.policy;
  };
}

function toolPolicyOf(config: Config, tier: SandboxTier, keys: Pick<ApiKeys, "of">): ToolPolicy {
  const profiles = agentProfiles(config, tier);
  return {
    ...config.tools,
    profile: (agentId, role) => profiles.get(profileKey(agentId, role))?.config.tools ?? "chat",
    confined: tier !== "none" && config.agent.sandbox !== "off",
    keyTools: (principal) => (isKeyPrincipal(principal) ? (keys.of(principal)?.tools ?? []) : undefined),
  };
}
