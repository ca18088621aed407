/** What agents are set up with, for people who look: model, folders, skills, and the instructions as pi gets them. Pure; starts nothing. */
import type { Config, Environment } from "../config/index.ts";
import type { AgentSummary } from "../contracts/agents-api.ts";
import type { AgentId, Role } from "../contracts/ids.ts";
import { type AgentProfile, profileKey } from "./profile.ts";
import { chooseModel, expectedModel, type ModelChoice } from "./setup/model-choice.ts";
import { callsItself } from "./setup/network.ts";
import { missingKey } from "./setup/provider-keys.ts";
import { type GatewayFeatures, systemPrompt } from "./setup/system-prompt.ts";
import { agentWorkspace } from "./setup/workspace.ts";

interface DescribeOptions {
  readonly home: string;
  readonly environment: Environment;
  readonly config: Config;
  readonly profiles: ReadonlyMap<string, AgentProfile>;
  readonly features: GatewayFeatures;
  /** Of plugins, for every agent. */
  readonly pluginSkills: readonly string[];
}

/** As it serves owners. */
export function describeAgents(options: DescribeOptions): readonly AgentSummary[] {
  return [...options.profiles.values()].filter(({ role }) => role === "owner").map((one) => summaryOf(options, one));
}

/** Null: there is no such agent. */
export function describeAgent(options: DescribeOptions, id: string, role: Role) {
  const profile = options.profiles.get(profileKey(id as AgentId, role));
  if (!profile) return null;
  const prompt = systemPrompt(profile.config, options.features, callsItself(choiceOf(options, profile)));
  return { summary: summaryOf(options, profile), prompt };
}

function choiceOf({ config, environment }: DescribeOptions, profile: AgentProfile): ModelChoice {
  return chooseModel({ agent: profile.config, models: config.models }, environment);
}

function summaryOf(options: DescribeOptions, profile: AgentProfile): AgentSummary {
  const { config, home, environment, pluginSkills } = options;
  const { id, config: own } = profile;
  const choice = choiceOf(options, profile);
  return {
    id,
    description: config.agents.find((one) => one.id === id)?.description ?? "",
    model: expectedModel(choice),
    modelBecause: choice.because,
    fallbacks: own.fallbacks,
    thinking: own.thinking ?? null,
    workspace: agentWorkspace(own, { home, environment }),
    sandbox: own.sandbox,
    skills: [...own.skills, ...pluginSkills],
    extensions: own.extensions,
    promptTemplates: own.promptTemplates,
    trouble: missingKey(config, environment, id),
  };
}
