/** Addresses of providers, compared with pi's catalogue: a call to another address would leave without its key. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { secret } from "../../kit/secret.ts";
import { providerEndpoint } from "./provider-endpoints.ts";
import { PROVIDER_KEYS } from "./provider-keys.ts";

const CATALOGUE = join(import.meta.dir, "../../../node_modules/@earendil-works/pi-ai/dist/providers/data");
/** More than a key is needed, so a process holds the credentials itself. */
const HELD_BY_THE_PROCESS = ["amazon-bedrock", "github-copilot", "google-vertex"];
const everyKey = {
  providerKeys: Object.fromEntries(
    Object.values(PROVIDER_KEYS)
      .flat()
      .map((name) => [name, secret(`value-of-${name}`)]),
  ),
};

const catalogue = readdirSync(CATALOGUE).map((file) => {
  const text = readFileSync(join(CATALOGUE, file), "utf8");
  const addresses = [...text.matchAll(/"baseUrl":\s*"([^"]+)"/g)].map(([, address = ""]) => address);
  return [file.replace(".json", ""), [...new Set(addresses)]] as const;
});

test.each(catalogue.filter(([name]) => Object.hasOwn(PROVIDER_KEYS, name) && !HELD_BY_THE_PROCESS.includes(name)))(
  "every model of %s is below the address that is known for it",
  (name, addresses) => {
    const endpoint = providerEndpoint(everyKey, name);
    const base = endpoint?.baseUrl ?? "none";
    expect(addresses.filter((address) => address !== base && !address.startsWith(`${base}/`))).toEqual([]);
  },
);

test("credentials that are more than a key stay with the process", () => {
  const served = Object.keys(PROVIDER_KEYS).filter((name) => providerEndpoint(everyKey, name) !== null);
  const unserved = Object.keys(PROVIDER_KEYS).filter((name) => !served.includes(name));
  // Azure's address is a setting of its own, and the one of this test is no address
  expect(unserved.sort()).toEqual(["amazon-bedrock", "azure-openai-responses", "github-copilot", "google-vertex"]);
});

test.each([
  [{ AZURE_OPENAI_BASE_URL: "https://mine.example/openai/v1" }, "https://mine.example"],
  [{ AZURE_OPENAI_RESOURCE_NAME: "my-resource" }, "https://my-resource.openai.azure.com"],
  [{ AZURE_OPENAI_RESOURCE_NAME: "My-Resource" }, "https://My-Resource.openai.azure.com"],
  [{ AZURE_OPENAI_RESOURCE_NAME: "evil.example/x" }, undefined],
  [{ AZURE_OPENAI_BASE_URL: "no address", AZURE_OPENAI_RESOURCE_NAME: "my-resource" }, undefined],
])("Azure's address follows from its variables: %j", (variables, expected) => {
  const values = { AZURE_OPENAI_API_KEY: "k", ...variables };
  const providerKeys = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, secret(value)]));
  expect(providerEndpoint({ providerKeys }, "azure-openai-responses")?.baseUrl).toBe(expected as string);
});

test("without any address there is no endpoint, whatever the key", () => {
  expect(
    providerEndpoint({ providerKeys: { AZURE_OPENAI_API_KEY: secret("k") } }, "azure-openai-responses"),
  ).toBeNull();
});

test("a provider whose keys are elsewhere has its address and the variable that pi reads, and no key", () => {
  const none = { providerKeys: {} };
  expect(providerEndpoint(none, "anthropic")).toBeNull();
  expect(providerEndpoint(none, "anthropic", true)).toEqual({
    baseUrl: "https://api.anthropic.com",
    variable: "ANTHROPIC_API_KEY",
    key: null,
    plain: {},
  });
  expect(providerEndpoint(none, "constructor", true)).toBeNull();
});

test("an address that is there without a key is not taken for the key", () => {
  const providerKeys = { AZURE_OPENAI_BASE_URL: secret("https://mine.example") };
  expect(providerEndpoint({ providerKeys }, "azure-openai-responses")).toBeNull();
});

test("variables that are no secrets are told to the process, the key is not", () => {
  const endpoint = providerEndpoint(everyKey, "cloudflare-ai-gateway");
  expect(endpoint?.variable).toBe("CLOUDFLARE_API_KEY");
  expect(Object.keys(endpoint?.plain ?? {}).sort()).toEqual(["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID"]);
});

test("of several kinds of keys the one is used that pi would take", () => {
  const endpoint = providerEndpoint(everyKey, "anthropic");
  expect([endpoint?.variable, endpoint?.key?.reveal()]).toEqual([
    "ANTHROPIC_AUTH_TOKEN",
    "value-of-ANTHROPIC_AUTH_TOKEN",
  ]);
});

test.each([
  [
    "azure-openai-responses",
    "AZURE_OPENAI_API_KEY",
    [
      ...["AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP"],
      "AZURE_OPENAI_RESOURCE_NAME",
    ],
  ],
  ["cloudflare-ai-gateway", "CLOUDFLARE_API_KEY", ["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID"]],
])("of the variables of %s only %s is a key, and a process is given the others as they are", (provider, key, plain) => {
  const names = [key, ...plain];
  const providerKeys = Object.fromEntries(names.map((name) => [name, secret(`https://${name.toLowerCase()}.example`)]));
  const found = providerEndpoint({ providerKeys }, provider);
  expect([found?.variable, Object.keys(found?.plain ?? {}).toSorted()]).toEqual([key, plain]);
});
