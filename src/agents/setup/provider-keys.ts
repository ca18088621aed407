/** Which providers the configuration and the environment have keys and models for. Pure. */
import { type Config, type Environment, keysForProvider, PROVIDER_KEYS } from "../../config/index.ts";
import type { AgentModel } from "../../contracts/agent.ts";
import type { AgentId } from "../../contracts/ids.ts";
import type { ProviderFacts } from "../../contracts/session-models.ts";

/** What pi lets a model think that a configuration calls able to. */
const USUAL_LEVELS: AgentModel["thinking"] = ["off", "minimal", "low", "medium", "high"];

export function providerFacts({ models }: Pick<Config, "models">, environment: Environment): ProviderFacts {
  const configured = Object.entries(models.providers).map(([provider, { models: served }]) => {
    const list = served.map(({ id, reasoning, cost: { input, output } }) => ({
      name: `${provider}/${id}`,
      thinking: reasoning ? USUAL_LEVELS : (["off"] as const),
      ...(input + output > 0 ? { price: { input, output } } : {}),
    }));
    return [provider, list] as const;
  });
  const known = Object.entries(PROVIDER_KEYS).map(([provider, variables]) => {
    const hasKey =
      models.keys[provider] !== undefined || Object.keys(keysForProvider(environment, provider)).length > 0;
    return [provider, { variables, hasKey }] as const;
  });
  return { configured: Object.fromEntries(configured), known: Object.fromEntries(known) };
}

/** The key that an agent's model lacks, as a sentence; null: none that is certain. A provider that is configured, or needs no key, is asked for real. */
export function missingKey(
  config: Pick<Config, "agent" | "agents" | "models">,
  environment: Environment,
  agentId: AgentId,
): string | null {
  const model = config.agents.find(({ id }) => id === agentId)?.model ?? config.agent.model;
  const [provider] = model?.split("/") ?? [];
  if (provider === undefined || config.agent.agentDir !== undefined) return null;
  const { configured, known } = providerFacts(config, environment);
  const facts = Object.hasOwn(configured, provider) ? undefined : known[provider];
  return facts && !facts.hasKey ? `There is no API key for ${provider}. Set ${facts.variables.join(" or ")}.` : null;
}
