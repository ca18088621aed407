/** Where the calls of each model provider of pi go. A key is put into calls to these addresses and to no others. */
import type { Secret } from "../../kit/secret.ts";
import type { Environment } from "./environment.ts";
import { keysForProvider, PROVIDER_KEYS } from "./provider-keys.ts";

/** As pi's catalogue has them; a test compares the two. */
const BASE_URLS: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  openrouter: "https://openrouter.ai/api",
  mistral: "https://api.mistral.ai",
  xai: "https://api.x.ai/v1",
  deepseek: "https://api.deepseek.com",
  groq: "https://api.groq.com/openai/v1",
  cerebras: "https://api.cerebras.ai/v1",
  moonshotai: "https://api.moonshot.ai/v1",
  "moonshotai-cn": "https://api.moonshot.cn/v1",
  "kimi-coding": "https://api.kimi.com/coding",
  zai: "https://api.z.ai/api/coding/paas/v4",
  "zai-coding-cn": "https://open.bigmodel.cn/api/coding/paas/v4",
  minimax: "https://api.minimax.io/anthropic",
  "minimax-cn": "https://api.minimaxi.com/anthropic",
  "qwen-token-plan": "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1",
  "qwen-token-plan-cn": "https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1",
  "qwen-token-plan-individual": "https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1",
  xiaomi: "https://api.xiaomimimo.com/v1",
  "xiaomi-token-plan-cn": "https://token-plan-cn.xiaomimimo.com/v1",
  "xiaomi-token-plan-ams": "https://token-plan-ams.xiaomimimo.com/v1",
  "xiaomi-token-plan-sgp": "https://token-plan-sgp.xiaomimimo.com/v1",
  "ant-ling": "https://api.ant-ling.com/v1",
  meta: "https://api.meta.ai/v1",
  nvidia: "https://integrate.api.nvidia.com/v1",
  fireworks: "https://api.fireworks.ai/inference",
  together: "https://api.together.ai/v1",
  baseten: "https://inference.baseten.co/v1",
  radius: "https://radius.pi.dev/v1",
  opencode: "https://opencode.ai/zen",
  "opencode-go": "https://opencode.ai/zen/go",
  "vercel-ai-gateway": "https://ai-gateway.vercel.sh",
  huggingface: "https://router.huggingface.co/v1",
  "cloudflare-workers-ai": "https://api.cloudflare.com/client/v4/accounts",
  "cloudflare-ai-gateway": "https://gateway.ai.cloudflare.com/v1",
};

/** Variables that are no secrets: pi needs their values to know where to go. */
const PLAIN_VARIABLES: ReadonlySet<string> = new Set([
  "AZURE_OPENAI_BASE_URL",
  "AZURE_OPENAI_RESOURCE_NAME",
  "AZURE_OPENAI_API_VERSION",
  "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
  "CLOUDFLARE_ACCOUNT_ID",
  "CLOUDFLARE_GATEWAY_ID",
]);

/** Where one provider has several kinds of keys, pi takes the first of these. */
const PI_ORDER: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
};

/** A provider of pi as the model door serves it. */
interface ProviderEndpoint {
  readonly baseUrl: string;
  /** The variable that holds the key, or would. */
  readonly variable: string;
  /** Null: there is none in the environment. */
  readonly key: Secret | null;
  /** What a process needs besides the key; nothing of it is secret. */
  readonly plain: Readonly<Record<string, string>>;
}

/**
 * `hasOtherKeys`: they are not in the environment. Null: there is no key, or more than a key is needed. Then a process holds the credentials itself: Amazon signs every request, Google Cloud
 * and GitHub exchange theirs for others.
 */
export function providerEndpoint(
  environment: Pick<Environment, "providerKeys">,
  provider: string,
  hasOtherKeys = false,
): ProviderEndpoint | null {
  const values = keysForProvider(environment, provider);
  if (!Object.hasOwn(PROVIDER_KEYS, provider)) return null;
  const order = (Object.hasOwn(PI_ORDER, provider) ? PI_ORDER[provider] : PROVIDER_KEYS[provider]) ?? [];
  const secrets = order.filter((name) => !PLAIN_VARIABLES.has(name));
  const variable = secrets.find((name) => values[name]) ?? (hasOtherKeys ? secrets.at(-1) : undefined);
  const key = variable === undefined ? null : (values[variable] ?? null);
  const plain = Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => PLAIN_VARIABLES.has(name))
      .map(([name, value]) => [name, value.reveal()]),
  );
  const baseUrl = provider === "azure-openai-responses" ? azureBase(plain) : BASE_URLS[provider];
  return variable === undefined || baseUrl === undefined ? null : { baseUrl, variable, key, plain };
}

function azureBase(plain: Readonly<Record<string, string>>): string | undefined {
  const { AZURE_OPENAI_BASE_URL: address, AZURE_OPENAI_RESOURCE_NAME: resource } = plain;
  if (address !== undefined) return URL.canParse(address) ? new URL(address).origin : undefined;
  return resource !== undefined && /^[a-z0-9-]+$/i.test(resource) ? `https://${resource}.openai.azure.com` : undefined;
}
