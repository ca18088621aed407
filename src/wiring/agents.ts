/** Agents: the pool of pi processes, what they may delegate to each other, and which models they can have. */
import {
  agentProfiles,
  createOwnPrograms,
  createPrograms,
  createReplaceablePool,
  createStoredSessions,
  describeAgent,
  describeAgents,
  heldLogins,
  missingKey,
  type PoolOptions,
  providerFacts,
  type ReplaceablePool,
  startPool,
} from "../agents/index.ts";
import { createSessionModels } from "../commands/index.ts";
import type { Config } from "../config/index.ts";
import type { AgentPool, Caller } from "../contracts/agent.ts";
import type { AgentsLook } from "../contracts/agents-api.ts";
import type { Budget, BudgetWork } from "../contracts/budget.ts";
import type { AgentId } from "../contracts/ids.ts";
import type { OwnPrograms, Programs } from "../contracts/programs.ts";
import type { SandboxTier } from "../contracts/sandbox.ts";
import type { SessionModels } from "../contracts/session-models.ts";
import type { TurnDelegations, Delegator } from "../contracts/tools/delegation.ts";
import { createEgress, createHostQuestions } from "../egress/index.ts";
import { createDelegations, originOf } from "../flow/index.ts";
import { type CallBudget, createModelDoor } from "../model-door/index.ts";
import type { Lifetime } from "../kit/lifetime.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { type Core, type GatewayDeps, ofModule } from "./core.ts";
import type { People } from "./people.ts";
import type { Tools } from "./tools.ts";
import { openWorkspaces } from "./workspaces.ts";

export interface Agents {
  readonly pool: ReplaceablePool;
  /** A pool with these settings, and with the skills that plugins have registered by now. */
  openPool(config: Config): Promise<AgentPool>;
  readonly delegations: Delegator & TurnDelegations;
  readonly models: SessionModels;
  /** Starts programs that serve the gateway, behind the same wall. */
  readonly programs: Programs;
  /** Starts parts of the gateway in processes of their own. */
  readonly ownPrograms: OwnPrograms;
  /** Sentences about files that were moved because a workspace is for other people now. */
  workspaceNotices(): readonly string[];
  /** Sentences about models that are not asked at the moment, and about logins that agents hold. */
  modelNotices(): readonly string[];
  /** For people who look. */
  readonly look: AgentsLook;
  /** The API key that this agent's model lacks, as a sentence; null: none that is known. */
  missingKey(agentId: AgentId): string | null;
}

interface AgentsParts {
  readonly tools: Tools;
  readonly people: People;
  /** Of the gateway, for scripts inside agents; the first processes wait for it. */
  readonly url: Promise<string>;
  readonly startTakesLonger: GatewayDeps["startTakesLonger"];
}

/** Longer than pi's own stop takes step by step. */
const AGENTS_STOP_MS = 15_000;

export async function openAgents(
  life: Lifetime,
  whole: Core,
  { tools, people, url, startTakesLonger }: AgentsParts,
): Promise<Agents> {
  const core = ofModule(whole, "agents");
  const { clock, ids, log, events, store, config, options } = core;
  const reach = { url, tokens: tools.agentTokens };
  const modelDoor = createModelDoor(
    { clock, log, events, budget: callBudget(people.budget), hide: core.secrets.hide },
    { models: () => config().models, environment: options.environment },
  );
  events.on("turn.ended", ({ turnId }) => people.budget.settle(turnId));
  const { sandbox } = options;
  const gatewayPort = url.then((address) => Number(new URL(address).port));
  const questions = createHostQuestions({ approvals: tools.approvals, scrub: core.secrets.scrub });
  const egress = createEgress({ clock, log, audit: store.audit, resolve: systemResolver, questions, gatewayPort });
  const poolDeps = {
    clock,
    ids,
    log,
    events,
    tools: tools.gate,
    questions: tools.questions,
    reach,
    modelDoor,
    sandbox,
    egress,
    storedSessions: store.sessionFiles.isLocal
      ? undefined
      : createStoredSessions({ log, ids, files: store.sessionFiles }),
  };
  const programs = createPrograms(
    { clock, ids, log, sandbox, egress },
    {
      home: options.home,
      environment: options.environment,
      bunEnv: options.bunEnv,
      settings: () => config().agent,
    },
  );
  const { report } = await sandbox.wall(); // tried since the start began
  const openPool = (from: Config) =>
    startPool(poolDeps, poolOptions(core, from, { pluginSkills: tools.skills.take(), tier: report.tier }));
  const workspaceNotices = await openWorkspaces(core, startTakesLonger);
  const pool = life.own("agents", createReplaceablePool({ log }, await openPool(config())), AGENTS_STOP_MS);
  return {
    pool,
    openPool,
    programs,
    ownPrograms: createOwnPrograms({ log }, options),
    delegations: createDelegations({ clock, ids, log, events, pool, budget: people.budget }, config),
    models: createSessionModels({ clock, pool, providers: () => providerFacts(config(), options.environment) }),
    workspaceNotices,
    modelNotices: () => [...modelDoor.notices(), ...heldLogins(config(), options.environment)],
    look: createAgentsLook(core, { pool, tools, tier: report.tier }),
    missingKey: (agentId) => missingKey(config(), options.environment, agentId),
  };
}

interface LookParts {
  readonly pool: AgentPool;
  readonly tools: Tools;
  readonly tier: SandboxTier;
}

function createAgentsLook(core: Core, { pool, tools, tier }: LookParts): AgentsLook {
  const { config } = core;
  const { home, environment } = core.options;
  const described = () => ({
    home,
    environment,
    config: config(),
    profiles: agentProfiles(config(), tier),
    features: featuresOf(config()),
    pluginSkills: tools.skills.list(),
  });
  return {
    list: () => ({ items: describeAgents(described()), processes: pool.processes() }),
    show(id, role) {
      const found = describeAgent(described(), id, role);
      if (!found) return null;
      return { ...found.summary, role, prompt: found.prompt, permissions: tools.permissions(id as AgentId) };
    },
  };
}

/** The budget of each model call. Of an agent that another one asked, the work is delegated work. */
function callBudget(budget: Budget): CallBudget {
  const workOf = ({ agentId, principal, origin, scope = "dm", cause, askedBy }: Caller): BudgetWork => {
    const begun = originOf({ scope, address: origin, ...(cause ? { origin: cause } : {}) });
    return { agentId, principal, origin: askedBy ? "delegate" : begun };
  };
  return {
    refusal(caller) {
      const verdict = budget.ask(workOf(caller));
      return verdict.may ? null : { code: "budget_spent", detail: verdict.because, say: verdict.say };
    },
    spent(caller, usage) {
      budget.spending(budget.bill(workOf(caller), { id: caller.turnId, model: "", usage }));
    },
  };
}

interface PoolParts {
  readonly pluginSkills: readonly string[];
  readonly tier: SandboxTier;
}

function poolOptions({ options }: Core, config: Config, { pluginSkills, tier }: PoolParts): PoolOptions {
  const { home, environment, bridgePath, bun, bunEnv } = options;
  const { agent, agents, models, roles } = config;
  return {
    home,
    environment,
    bridgePath,
    bun,
    bunEnv,
    config: agent,
    sendable: config.media.roots,
    models,
    profiles: agentProfiles({ agent, agents, roles }, tier),
    features: featuresOf(config),
    pluginSkills,
  };
}

/** What the instructions may speak of. */
function featuresOf({ heartbeat, agents, cron }: Config) {
  const beats = [heartbeat, ...agents.map((one) => one.heartbeat)].some((one) => one?.enabled);
  return { heartbeat: beats === true, cron: cron.enabled, media: true };
}
