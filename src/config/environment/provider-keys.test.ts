/** Variables of model providers: which of them reach a process that needs several, and which choose a provider by themselves. */
import { expect, test } from "bun:test";
import { readEnvironment } from "./environment.ts";
import { firstProviderWithKey, keysForProvider, PROVIDER_KEYS } from "./provider-keys.ts";

const given = (names: readonly string[]) => readEnvironment(Object.fromEntries(names.map((name) => [name, name])));
const EVERYTHING = given(Object.values(PROVIDER_KEYS).flat());

test.each([
  ["anthropic", "ANTHROPIC_API_KEY ANTHROPIC_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN"],
  [
    "azure-openai-responses",
    "AZURE_OPENAI_API_KEY AZURE_OPENAI_BASE_URL AZURE_OPENAI_RESOURCE_NAME AZURE_OPENAI_API_VERSION AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
  ],
  [
    "google-vertex",
    "GOOGLE_CLOUD_API_KEY GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT GOOGLE_CLOUD_LOCATION",
  ],
  ["cloudflare-workers-ai", "CLOUDFLARE_API_KEY CLOUDFLARE_ACCOUNT_ID"],
  ["cloudflare-ai-gateway", "CLOUDFLARE_API_KEY CLOUDFLARE_ACCOUNT_ID CLOUDFLARE_GATEWAY_ID"],
  [
    "amazon-bedrock",
    "AWS_BEARER_TOKEN_BEDROCK AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_WEB_IDENTITY_TOKEN_FILE",
  ],
])("a process for %s gets its variables with their values, and none of another provider", (provider, names) => {
  const keys = keysForProvider(EVERYTHING, provider);
  const values = Object.fromEntries(Object.entries(keys).map(([name, value]) => [name, value.reveal()]));
  expect(values).toEqual(Object.fromEntries(names.split(" ").map((name) => [name, name])));
});

test("every other provider needs one variable", () => {
  const several = Object.entries(PROVIDER_KEYS).filter(([, names]) => names.length !== 1);
  expect(several.map(([provider]) => provider)).toEqual([
    "anthropic",
    "azure-openai-responses",
    "google-vertex",
    "cloudflare-workers-ai",
    "cloudflare-ai-gateway",
    "amazon-bedrock",
  ]);
});

const NOT_BY_ITSELF = [
  ...["azure-openai-responses", "google-vertex", "cloudflare-workers-ai", "cloudflare-ai-gateway", "amazon-bedrock"],
  ...["huggingface", "github-copilot"],
];

test.each(Object.entries(PROVIDER_KEYS))(
  "the key of %s alone chooses it, unless it serves other purposes",
  (provider, names) => {
    const chosen = firstProviderWithKey(given(names));
    if (NOT_BY_ITSELF.includes(provider)) expect(chosen).toBeNull();
    else expect(PROVIDER_KEYS[chosen ?? ""]).toEqual(names); // two may share a key: the first of them is chosen
  },
);
