/** Keys of model providers for an operator: where each comes from, and a try of one. */
import { modelListAt, modelListOf, tryModelKey } from "../agents/index.ts";
import { modelEndpoint, PROVIDER_KEYS } from "../config/index.ts";
import type { KeyTest, ModelKeys, ProviderCard } from "../contracts/model-keys.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { type Secret, secret } from "../kit/secret.ts";
import type { Core } from "./core.ts";

const UNKNOWN_LIST: KeyTest = {
  ok: false,
  say: "It is not known where this provider lists its models, so its key cannot be tried without spending something",
  models: [],
};
const NO_KEY: KeyTest = { ok: false, say: "There is no key to try", models: [] };
const ELSEWHERE: KeyTest = {
  ok: false,
  say: "Its key is read from a file or a program at each call, and is not tried here",
  models: [],
};

export function createModelKeys({ clock, config, options }: Core): ModelKeys {
  const { environment } = options;
  const cardOf = (name: string): ProviderCard => {
    const { models } = config();
    const isOwn = Object.hasOwn(models.providers, name);
    const inSettings = Object.hasOwn(models.keys, name) || models.providers[name]?.apiKey !== undefined;
    const hasKey = (modelEndpoint(models, environment, name)?.keys.length ?? 0) > 0;
    return {
      name,
      keyFrom: inSettings ? "settings" : hasKey ? "environment" : null,
      isOwn,
      canTest: isOwn || modelListOf(name) !== null,
    };
  };
  const names = () => [...new Set([...Object.keys(config().models.providers), ...Object.keys(PROVIDER_KEYS)])];
  return {
    providers: () => names().map(cardOf),
    async test(provider, typed, signal) {
      if (!names().includes(provider)) return null;
      const own = config().models.providers[provider];
      const address = own ? modelListAt(own.baseUrl) : modelListOf(provider);
      if (!address) return UNKNOWN_LIST;
      const key = typed === null ? keyInForce() : secret(typed);
      if (key === "elsewhere") return ELSEWHERE;
      if (key === null && !own) return NO_KEY;
      return tryModelKey({ clock, resolve: systemResolver }, address, key, signal);

      function keyInForce(): Secret | null | "elsewhere" {
        const [first] = modelEndpoint(config().models, environment, provider)?.keys ?? [];
        return first === undefined ? null : (first.value ?? "elsewhere");
      }
    },
  };
}
