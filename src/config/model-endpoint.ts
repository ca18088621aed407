/** Where a model provider answers and with which keys it is asked: from `models`, else from what pi knows and the environment holds. Pure. */
import type { Secret } from "../kit/secret.ts";
import { type Environment, keysForProvider, providerEndpoint } from "./environment/index.ts";
import type { Config } from "./schema.ts";

export type KeySource = Config["models"]["keys"][string][number];

export interface ModelEndpoint {
  /** Calls go to addresses that begin with this. */
  readonly baseUrl: string;
  /** None: it is asked without a key. */
  readonly keys: readonly KeySource[];
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
  const given = Object.hasOwn(models.keys, provider) ? models.keys[provider] : undefined;
  const known = providerEndpoint(environment, provider, given !== undefined);
  const own = Object.hasOwn(models.providers, provider) ? models.providers[provider] : undefined;
  if (own) {
    const key = own.apiKey ?? anyKey(environment, provider);
    return { baseUrl: own.baseUrl, keys: given ?? sourcesOf(key), variable: null, plain: {} };
  }
  if (!known) return null;
  const { baseUrl, variable, plain } = known;
  return { baseUrl, keys: given ?? sourcesOf(known.key), variable, plain };
}

function sourcesOf(key: Secret | null): readonly KeySource[] {
  return key ? [{ value: key }] : [];
}

function anyKey(environment: Pick<Environment, "providerKeys">, provider: string): Secret | null {
  return Object.values(keysForProvider(environment, provider))[0] ?? null;
}
