/** What a process gets so that it can call the models of its providers: addresses of the model door and placeholders, and no key. Pure. */
import { type Config, type Environment, keysForProvider, modelEndpoint } from "../../config/index.ts";
import { PLACEHOLDER_KEY, PLACEHOLDER_LOGIN } from "../../contracts/model-door.ts";
import type { Secret } from "../../kit/secret.ts";

export interface ModelAccess {
  /** Those whose calls go through the model door. */
  readonly providers: readonly string[];
  /** Calls to addresses that begin with one of these go through it. */
  readonly baseUrls: readonly string[];
  /** For the environment of the process: placeholders, and what is no secret. */
  readonly variables: Readonly<Record<string, string>>;
  /** For pi's file of models, by provider. pi insists on some key. */
  readonly apiKeys: Readonly<Record<string, string>>;
  /** Credentials that the process holds itself, because they are more than a key that could be put into a call. */
  readonly held: Readonly<Record<string, Secret>>;
}

/** What pi takes for a key where there is none. */
const NO_KEY = "none";

/** Of all these providers together. */
export function modelAccess(
  models: Config["models"],
  environment: Pick<Environment, "providerKeys">,
  providers: readonly string[],
): ModelAccess {
  const all = [...new Set(providers)].map((provider) => accessOf(models, environment, provider));
  return {
    providers: all.flatMap((one) => one.providers),
    baseUrls: all.flatMap((one) => one.baseUrls),
    variables: Object.assign({}, ...all.map((one) => one.variables)),
    apiKeys: Object.assign({}, ...all.map((one) => one.apiKeys)),
    held: Object.assign({}, ...all.map((one) => one.held)),
  };
}

/** The provider of a model, and those of the models that answer in its place. */
export function providersOf(provider: string, fallbacks: readonly string[]): readonly string[] {
  return [provider, ...fallbacks.map((name) => name.slice(0, name.indexOf("/")))];
}

function accessOf(
  models: Config["models"],
  environment: Pick<Environment, "providerKeys">,
  provider: string,
): ModelAccess {
  const endpoint = modelEndpoint(models, environment, provider);
  if (!endpoint) {
    const held = keysForProvider(environment, provider);
    return { providers: [], baseUrls: [], variables: {}, apiKeys: {}, held };
  }
  const { baseUrl, keys, variable, plain } = endpoint;
  const [first] = keys;
  const placeholder = first ? placeholderFor(first.value) : NO_KEY;
  return {
    providers: [provider],
    baseUrls: [baseUrl],
    variables: variable === null ? plain : { ...plain, [variable]: placeholder },
    apiKeys: { [provider]: placeholder },
    held: {},
  };
}

/** pi asks Anthropic in another way when it has a login token, which it knows by its beginning. */
function placeholderFor(key: Secret | undefined): string {
  return key?.reveal().includes("sk-ant-oat") ? PLACEHOLDER_LOGIN : PLACEHOLDER_KEY;
}
