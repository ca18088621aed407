/** Which environment variables each model provider of pi takes its credentials from. Names only; no value is kept here. */
import type { Secret } from "../../kit/secret.ts";
import type { Environment } from "./environment.ts";

/** The order is the order of preference when no model is configured. */
export const PROVIDER_KEYS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  xai: ["XAI_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  groq: ["GROQ_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  moonshotai: ["MOONSHOT_API_KEY"],
  "moonshotai-cn": ["MOONSHOT_API_KEY"],
  "kimi-coding": ["KIMI_API_KEY"],
  zai: ["ZAI_API_KEY"],
  "zai-coding-cn": ["ZAI_CODING_CN_API_KEY"],
  minimax: ["MINIMAX_API_KEY"],
  "minimax-cn": ["MINIMAX_CN_API_KEY"],
  "qwen-token-plan": ["QWEN_TOKEN_PLAN_API_KEY"],
  "qwen-token-plan-cn": ["QWEN_TOKEN_PLAN_CN_API_KEY"],
  "qwen-token-plan-individual": ["QWEN_TOKEN_PLAN_API_KEY"],
  xiaomi: ["XIAOMI_API_KEY"],
  "xiaomi-token-plan-cn": ["XIAOMI_TOKEN_PLAN_CN_API_KEY"],
  "xiaomi-token-plan-ams": ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"],
  "xiaomi-token-plan-sgp": ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"],
  "ant-ling": ["ANT_LING_API_KEY"],
  meta: ["META_API_KEY"],
  nvidia: ["NVIDIA_API_KEY"],
  fireworks: ["FIREWORKS_API_KEY"],
  together: ["TOGETHER_API_KEY"],
  baseten: ["BASETEN_API_KEY"],
  radius: ["RADIUS_API_KEY"],
  opencode: ["OPENCODE_API_KEY"],
  "opencode-go": ["OPENCODE_API_KEY"],
  "vercel-ai-gateway": ["AI_GATEWAY_API_KEY"],
  huggingface: ["HF_TOKEN"],
  "github-copilot": ["COPILOT_GITHUB_TOKEN"],
  "azure-openai-responses": [
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_BASE_URL",
    "AZURE_OPENAI_RESOURCE_NAME",
    "AZURE_OPENAI_API_VERSION",
    "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
  ],
  "google-vertex": [
    "GOOGLE_CLOUD_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
  ],
  "cloudflare-workers-ai": ["CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID"],
  "cloudflare-ai-gateway": ["CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID"],
  "amazon-bedrock": [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
  ],
};

/** These need more than one variable, or use credentials that serve many other purposes: chosen by agent.model, never by chance. */
const NEVER_BY_ITSELF = new Set([
  "azure-openai-responses",
  "google-vertex",
  "cloudflare-workers-ai",
  "cloudflare-ai-gateway",
  "amazon-bedrock",
  "huggingface",
  "github-copilot",
]);

/** The variables a process for this provider needs, and no others. Empty for a provider that is not known here. */
export function keysForProvider(
  environment: Pick<Environment, "providerKeys">,
  provider: string,
): Record<string, Secret> {
  const names = Object.hasOwn(PROVIDER_KEYS, provider) ? (PROVIDER_KEYS[provider] ?? []) : [];
  const keys: Record<string, Secret> = {};
  for (const name of names) {
    const value = environment.providerKeys[name];
    if (value) keys[name] = value;
  }
  return keys;
}

export function firstProviderWithKey(environment: Pick<Environment, "providerKeys">): string | null {
  for (const provider of Object.keys(PROVIDER_KEYS)) {
    if (NEVER_BY_ITSELF.has(provider)) continue;
    if (Object.keys(keysForProvider(environment, provider)).length > 0) return provider;
  }
  return null;
}
