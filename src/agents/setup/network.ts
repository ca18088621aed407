/** What network one agent process has: decided from the setting, the wall around it and who calls the model, with the reason; and its ports opened. */
import type { Config } from "../../config/index.ts";
import type { Egress, EgressCaller, NetworkSetting } from "../../contracts/egress.ts";
import type { SandboxNetwork, SandboxTier } from "../../contracts/sandbox.ts";
import { NO_PROXY_HOST, proxyVariables } from "../../kit/proxy-variables.ts";
import type { ModelChoice } from "./model-choice.ts";

interface Situation {
  readonly tier: SandboxTier;
  readonly setting: NetworkSetting;
  /** pi calls its provider itself, by a login that only it has. */
  readonly callsItself: boolean;
}

interface ProcessNetwork {
  readonly confined: SandboxNetwork["kind"];
  /** How its programs reach the gateway and hosts outside: over ports that it opens itself, over ports of the gateway, or as the machine does. */
  readonly by: "relay" | "ports" | "machine" | "nothing";
  readonly because: string;
}

/** Pure. */
export function networkFor({ tier, setting, callsItself }: Situation): ProcessNetwork {
  const machine = { confined: "open", by: "machine" } as const;
  if (tier === "none") return { ...machine, because: "there is no wall around it" };
  if (callsItself) return { ...machine, because: "pi calls its provider itself, by a login that only it has" };
  // also where no host may be reached: a program that asks the proxy is told why
  if (tier === "full") return { confined: "closed", by: "relay", because: "it has a network of its own" };
  if (setting === "none") return { confined: "closed", by: "nothing", because: "agent.network is none" };
  return { confined: "closed", by: "ports", because: "agent.network allows hosts" };
}

interface NetworkOptions {
  readonly config: Pick<Config["agent"], "network">;
  readonly choice: ModelChoice;
  readonly tier: SandboxTier;
  /** Of the gateway; null: its programs are not told of it. */
  readonly url: string | null;
  /** For whom the process works now. */
  readonly caller: () => EgressCaller | null;
}

export interface OpenNetwork extends Disposable {
  readonly by: ProcessNetwork["by"];
  readonly confined: SandboxNetwork;
  /** What the process is told of it. */
  readonly variables: Readonly<Record<string, string>>;
}

function proxyOf({ by }: ProcessNetwork, port: number | undefined): Readonly<Record<string, string>> {
  if (by === "nothing") return proxyVariables(`http://${NO_PROXY_HOST}:1`);
  return port === undefined ? {} : proxyVariables(`http://127.0.0.1:${port}`);
}

/** The model door does not serve its provider: a pi login, credentials that are more than a key, or a provider that only pi knows. */
export function callsItself(choice: ModelChoice): boolean {
  if (choice.kind === "demo") return false;
  return choice.kind === "login" || !choice.access.providers.includes(choice.provider);
}

/** For the life of one process. */
export function openNetwork(egress: Egress | undefined, options: NetworkOptions): OpenNetwork {
  const { config, choice, tier, url, caller } = options;
  const plan = networkFor({ tier, setting: config.network, callsItself: callsItself(choice) });
  const gateway = url === null ? null : Number(new URL(url).port);
  if (plan.by === "relay") {
    const variables = { PI_GATEWAY_RELAY: JSON.stringify({ gateway }) };
    return { by: plan.by, confined: { kind: "closed", ports: [] }, variables, [Symbol.dispose]: () => undefined };
  }
  const proxy = plan.by === "ports" ? egress?.listen(caller) : undefined;
  const ports = proxy ? [proxy.port, ...(gateway === null ? [] : [gateway])] : [];
  return {
    by: plan.by,
    confined: plan.confined === "open" ? { kind: "open" } : { kind: "closed", ports },
    variables: proxyOf(plan, proxy?.port),
    [Symbol.dispose]: () => proxy?.[Symbol.dispose](),
  };
}
