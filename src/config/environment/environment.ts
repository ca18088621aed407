/** What the product takes from environment variables, read once. Nothing else in the product looks at them. */
import { homedir } from "node:os";
import { type Secret, secret } from "../../kit/secret.ts";
import { PROVIDER_KEYS } from "./provider-keys.ts";

export interface Environment {
  /** PI_GATEWAY_HOME, as written. */
  readonly home: string | null;
  readonly userHome: string;
  readonly path: string;
  /** PI_GATEWAY_PI: the pi to run where the settings name none. */
  readonly piPath: string | null;
  /** LANG, TZ and LC_*: what a child process needs to print dates and text as its owner expects. */
  readonly locale: Readonly<Record<string, string>>;
  readonly transpilerCache: string | null;
  readonly noColor: boolean;
  /** By variable name; only those in PROVIDER_KEYS that hold something. */
  readonly providerKeys: Readonly<Record<string, Secret>>;
  /** For `${NAME}` in the configuration file. */
  readonly variables: (name: string) => string | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

const LOCALE_NAME = /^(LANG|TZ|LC_[A-Z]+)$/;

export function readEnvironment(env: Variables): Environment {
  const locale: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value && LOCALE_NAME.test(name)) locale[name] = value;
  }
  return {
    home: env.PI_GATEWAY_HOME || null,
    userHome: env.HOME || homedir(),
    path: env.PATH ?? "",
    piPath: env.PI_GATEWAY_PI || null,
    locale,
    transpilerCache: env.BUN_RUNTIME_TRANSPILER_CACHE_PATH || null,
    noColor: Boolean(env.NO_COLOR),
    providerKeys: readProviderKeys(env),
    variables: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
  };
}

function readProviderKeys(env: Variables): Record<string, Secret> {
  const keys: Record<string, Secret> = {};
  for (const name of new Set(Object.values(PROVIDER_KEYS).flat())) {
    const value = env[name];
    if (value?.trim()) keys[name] = secret(value);
  }
  return keys;
}
