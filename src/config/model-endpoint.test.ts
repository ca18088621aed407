/** Which key a provider of the configuration is asked with. */
import { expect, test } from "bun:test";
import { secret } from "../kit/secret.ts";
import { checkConfigText } from "./index.ts";
import { modelEndpoint } from "./model-endpoint.ts";

const environment = { providerKeys: { OPENAI_API_KEY: secret("key-of-the-environment") } };

function modelsOf(openai: object, keys: object = {}) {
  const served = { api: "openai-completions", models: [{ id: "m" }], ...openai };
  const { config, problems } = checkConfigText(
    JSON.stringify({ models: { providers: { openai: served }, keys } }),
    () => undefined,
  );
  if (!config) throw new Error(JSON.stringify(problems));
  return config.models;
}

test("a provider of the configuration is asked with its own key, and with that of the environment only when it has none", () => {
  const baseUrl = "https://models.example/v1";
  const own = modelEndpoint(modelsOf({ baseUrl, apiKey: "key-of-the-file" }), environment, "openai");
  expect([own?.baseUrl, own?.keys.map(({ value }) => value?.reveal())]).toEqual([baseUrl, ["key-of-the-file"]]);
  const without = modelEndpoint(modelsOf({ baseUrl }), environment, "openai");
  expect(without?.keys.map(({ value }) => value?.reveal())).toEqual(["key-of-the-environment"]);
});

test("a provider that nobody knows, or that has no key, is asked nowhere", () => {
  const models = modelsOf({ baseUrl: "https://models.example/v1" });
  expect(modelEndpoint(models, environment, "nobody")).toBeNull();
  expect(modelEndpoint({ ...models, providers: {} }, { providerKeys: {} }, "openai")).toBeNull();
  expect(modelEndpoint(models, environment, "constructor")).toBeNull();
});

test("a list of keys goes before the key of its provider and that of the environment, wherever the provider is", () => {
  const baseUrl = "https://models.example/v1";
  const listed = { openai: [{ value: "first" }, { file: "/keys/second" }] };
  const wanted = (models: ReturnType<typeof modelsOf>) => {
    const found = modelEndpoint(models, environment, "openai");
    return { at: found?.baseUrl, keys: found?.keys.map(({ value, file }) => value?.reveal() ?? file) };
  };
  const keys = ["first", "/keys/second"];
  expect(wanted(modelsOf({ baseUrl, apiKey: "key-of-the-file" }, listed))).toEqual({ at: baseUrl, keys });
  const { providers: _own, ...known } = modelsOf({ baseUrl }, listed);
  expect(wanted({ ...known, providers: {} })).toEqual({ at: "https://api.openai.com/v1", keys });
  const alone = modelEndpoint({ ...known, providers: {} }, { providerKeys: {} }, "openai"); // no key in the environment
  expect([alone?.baseUrl, alone?.keys.length, alone?.variable]).toEqual([
    "https://api.openai.com/v1",
    2,
    "OPENAI_API_KEY",
  ]);
});

test("a provider that pi finds by more variables than its key is given those as well, and none of another provider", () => {
  const given = {
    CLOUDFLARE_API_KEY: secret("key"),
    CLOUDFLARE_ACCOUNT_ID: secret("account"),
    OPENAI_API_KEY: secret("x"),
  };
  const found = modelEndpoint({ providers: {}, keys: {} }, { providerKeys: given }, "cloudflare-workers-ai");
  expect({ ...found, keys: found?.keys.map(({ value }) => value?.reveal()) }).toEqual({
    baseUrl: "https://api.cloudflare.com/client/v4/accounts",
    keys: ["key"],
    variable: "CLOUDFLARE_API_KEY",
    plain: { CLOUDFLARE_ACCOUNT_ID: "account" },
  });
});
