/** The environment of an agent process: an allow-list, built from nothing. Whatever is not named here does not reach it. */
import type { Config, Environment } from "../../config/index.ts";
import type { Secret } from "../../kit/secret.ts";
import type { AgentFolders } from "./agent-folder.ts";
import type { ModelChoice } from "./model-choice.ts";

interface AgentEnvironment {
  readonly environment: Environment;
  readonly folders: AgentFolders;
  readonly choice: ModelChoice;
  readonly config: Pick<Config["agent"], "bridge" | "fallbacks" | "providerWaitMs">;
  readonly bunEnv: Readonly<Record<string, string>>;
  readonly bridgeSuffix: string;
  /** By which the next process of the gateway knows what this one left running. */
  readonly mark: Readonly<Record<string, string>>;
  readonly reach: Reach | null;
  /** How its programs reach others. */
  readonly network: Readonly<Record<string, string>>;
  /** Where passing files go. */
  readonly temp: string;
}

/** Where the gateway is, and by which token scripts of this process prove for whom they act. */
export interface Reach {
  readonly url: string;
  readonly token: Secret;
}

/**
 * No last stage of compiling: with it the compilers took half as much of a processor as pi itself for its first thousand turns, which
 * turns of others waited for. What runs before pi takes the variable away from the programs that pi starts.
 */
const FEWER_COMPILERS = { BUN_JSC_useFTLJIT: "0" };
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";

export function agentEnvironment(options: AgentEnvironment): Record<string, string> {
  const { environment, folders, choice, reach } = options;
  return {
    ...options.bunEnv,
    ...environment.locale,
    ...FEWER_COMPILERS,
    PATH: environment.path || FALLBACK_PATH,
    HOME: folders.home,
    TMPDIR: options.temp,
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: folders.transpilerCache,
    PI_CODING_AGENT_DIR: folders.agentDir,
    PI_OFFLINE: "1",
    ...options.mark,
    PI_GATEWAY_BRIDGE: options.bridgeSuffix,
    PI_GATEWAY_BRIDGE_MODE: options.config.bridge,
    PI_GATEWAY_PROVIDER_WAIT_MS: String(options.config.providerWaitMs),
    ...(reach ? { PI_GATEWAY_URL: reach.url, PI_GATEWAY_INTERNAL_TOKEN: reach.token.reveal() } : {}),
    ...forModels(choice, options.config.fallbacks),
    ...options.network,
  };
}

/** The values that must not appear in anything the process writes to its error output. */
export function secretValues(choice: ModelChoice): readonly string[] {
  if (choice.kind === "demo" || choice.kind === "login") return [];
  return Object.values(choice.access.held).map((value) => value.reveal());
}

/** No key of a provider, but for credentials that only the process itself can use. */
function forModels(choice: ModelChoice, fallbacks: readonly string[]): Record<string, string> {
  if (choice.kind === "demo") return { PI_GATEWAY_DEMO: "1" };
  if (choice.kind === "login") return {};
  const { baseUrls, variables, held } = choice.access;
  const values: Record<string, string> = { PI_GATEWAY_MODEL_DOOR: JSON.stringify(baseUrls), ...variables };
  if (fallbacks.length > 0) values["PI_GATEWAY_FALLBACKS"] = JSON.stringify(fallbacks);
  for (const [name, value] of Object.entries(held)) values[name] = value.reveal();
  return values;
}
