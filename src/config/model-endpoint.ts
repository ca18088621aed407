/** Where a model provider answers and with which key it is asked: from `models.providers`, else from what pi knows and the environment holds. Pure. */
import type { Secret } from "../kit/secret.ts";
import { type Environment, keysForProvider, providerEndpoint } from "./environment/index.ts";
import type { Config } from "./schema.ts";

export interface ModelEndpoint {
  /** Calls go to addresses that begin with this. */
  readonly baseUrl: string;
  /** Null: it is asked without one. */
  readonly key: Secret | null;
  /** The variable in which pi expects the key; null: in its file of models. */
  readonly variable: string | null;
  /** Other variables that pi needs for it. No secrets. */
  readonly plain: Readonly<Record<string, string>>;
}

/** Null: unknown here, without a key, or with credentials that only the process itself can use. */
export function modelEndpoint(
  models: Config["models"],
  environment: Pick<Environment, "providerKeys">,
  provider: string,
): ModelEndpoint | null {
  const known = providerEndpoint(environment, provider);
  const own = Object.hasOwn(models.providers, provider) ? models.providers[provider] : undefined;
  if (!own) return known;
  return { baseUrl: own.baseUrl, key: own.apiKey ?? anyKey(environment, provider), variable: null, plain: {} };
}

function anyKey(environment: Pick<Environment, "providerKeys">, provider: string): Secret | null {
  return (
    providerEndpoint(environment, provider)?.key ?? Object.values(keysForProvider(environment, provider))[0] ?? null
  );
}
