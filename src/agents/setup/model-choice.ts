/** Which model answers, and how its provider is reached: decided once from configuration and environment, with the reason. Reads nothing itself. */
import { type Config, type Environment, firstProviderWithKey } from "../../config/index.ts";
import { type ModelAccess, modelAccess, providersOf } from "./model-access.ts";

export type ModelChoice =
  | { readonly kind: "demo"; readonly because: string }
  | {
      readonly kind: "configured";
      readonly provider: string;
      readonly model: string;
      readonly access: ModelAccess;
      readonly because: string;
    }
  /** pi's own choice among the models of this provider. */
  | {
      readonly kind: "provider-default";
      readonly provider: string;
      readonly access: ModelAccess;
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
      access: modelAccess(config.models, environment, providersOf(provider, config.agent.fallbacks)),
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

function configured(
  config: Pick<Config, "agent" | "models">,
  environment: Environment,
  name: string,
  because: string,
): ModelChoice {
  const slash = name.indexOf("/");
  const provider = name.slice(0, slash);
  const access = modelAccess(config.models, environment, providersOf(provider, config.agent.fallbacks));
  return { kind: "configured", provider, model: name.slice(slash + 1), access, because };
}
