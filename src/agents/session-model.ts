/** Which processes can serve a session that has a model of its own: pure decisions. Keys of one provider never meet those of another. */
import type { Config, Environment } from "../config/index.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentProfile } from "./profile.ts";
import { modelAccess, providersOf } from "./setup/model-access.ts";
import { DEMO_MODEL, type ModelChoice, chooseModel } from "./setup/model-choice.ts";

/** A provider's name becomes the name of a folder. */
const PROVIDER = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

type SessionProfile =
  | { readonly kind: "own"; readonly because: "no_wish" | "same_provider" }
  /** Processes of the same agent that have the key of this provider and no other. */
  | { readonly kind: "provider"; readonly provider: string; readonly profile: AgentProfile }
  /** The agent's folder belongs to somebody else, and what logins it holds is not known here: processes for exactly this model. */
  | { readonly kind: "model"; readonly provider: string; readonly profile: AgentProfile };

export function profileForModel(profile: AgentProfile, own: ModelChoice, model: string | undefined): SessionProfile {
  if (model === undefined) return { kind: "own", because: "no_wish" };
  const provider = providerOf(model);
  if (provider === providerOfChoice(own)) return { kind: "own", because: "same_provider" };
  if (!PROVIDER.test(provider)) throw new GatewayError("model_missing", `${model} is not the name of a model`);
  const { config } = profile;
  if (config.agentDir !== undefined) {
    return { kind: "model", provider, profile: { ...profile, config: { ...config, model } } };
  }
  // No model can be called this: sessions with different models of one provider share processes.
  return { kind: "provider", provider, profile: { ...profile, config: { ...config, model: `${provider}/` } } };
}

/** What such a process is started with; its sessions are given their models one by one. */
export function choiceForSession(
  wanted: Exclude<SessionProfile, { kind: "own" }>,
  models: Config["models"],
  environment: Environment,
): ModelChoice {
  const { provider, profile } = wanted;
  if (wanted.kind === "model") return chooseModel({ agent: profile.config, models }, environment);
  if (provider === providerOf(DEMO_MODEL)) return { kind: "demo", because: "a session asks for it" };
  const first = models.providers[provider]?.models[0];
  if (first) {
    const agent = { ...profile.config, model: `${provider}/${first.id}` };
    return chooseModel({ agent, models }, environment);
  }
  const access = modelAccess(models, environment, providersOf(provider, profile.config.fallbacks));
  return { kind: "provider-default", provider, access, because: `a session asks for a model of ${provider}` };
}

function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf("/")));
}

function providerOfChoice(choice: ModelChoice): string | null {
  if (choice.kind === "demo") return providerOf(DEMO_MODEL);
  return choice.kind === "login" ? null : choice.provider;
}
