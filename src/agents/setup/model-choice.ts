/** Which model answers, and with which keys: decided once from configuration and environment, with the reason. Reads nothing itself. */
import { type Config, type Environment, firstProviderWithKey, keysForProvider } from "../../config/index.ts";
import type { Secret } from "../../kit/secret.ts";

export type ModelChoice =
  | { readonly kind: "demo"; readonly because: string }
  | {
      readonly kind: "configured";
      readonly provider: string;
      readonly model: string;
      readonly keys: Readonly<Record<string, Secret>>;
      readonly because: string;
    }
  /** pi's own choice among the models of this provider. */
  | {
      readonly kind: "provider-default";
      readonly provider: string;
      readonly keys: Readonly<Record<string, Secret>>;
      readonly because: string;
    }
  /** Whatever the settings and logins in that pi folder say. */
  | { readonly kind: "login"; readonly agentDir: string; readonly because: string };

export const DEMO_MODEL = "gwdemo/demo";

export function chooseModel(config: Pick<Config, "agent" | "models">, environment: Environment): ModelChoice {
  const { model, agentDir } = config.agent;
  if (model === DEMO_MODEL) return { kind: "demo", because: "agent.model asks for it" };
  if (model !== undefined) return configured(config, environment, model, "agent.model");
  if (agentDir !== undefined)
    return { kind: "login", agentDir, because: "agent.agentDir is set and agent.model is not" };
  const [first] = Object.entries(config.models.providers);
  const firstModel = first?.[1].models[0];
  if (first && firstModel)
    return configured(config, environment, `${first[0]}/${firstModel.id}`, "first of models.providers");
  const provider = firstProviderWithKey(environment);
  if (provider !== null) {
    return {
      kind: "provider-default",
      provider,
      keys: keysForProvider(environment, provider),
      because: `a key of ${provider} is in the environment`,
    };
  }
  return { kind: "demo", because: "there is no key, no login and no endpoint" };
}

/** Its name, as far as it is known before pi has been asked. */
export function expectedModel(choice: ModelChoice): string | null {
  if (choice.kind === "demo") return DEMO_MODEL;
  return choice.kind === "configured" ? `${choice.provider}/${choice.model}` : null;
}

/** The variable in which a key from the configuration file travels to the agent. */
export function keyVariable(provider: string): string {
  return `PI_GW_KEY_${provider.toUpperCase().replaceAll("-", "_")}`;
}

function configured(
  config: Pick<Config, "models">,
  environment: Environment,
  name: string,
  because: string,
): ModelChoice {
  const slash = name.indexOf("/");
  const provider = name.slice(0, slash);
  const own = config.models.providers[provider]?.apiKey;
  const keys = own ? { [keyVariable(provider)]: own } : keysForProvider(environment, provider);
  return { kind: "configured", provider, model: name.slice(slash + 1), keys, because };
}
