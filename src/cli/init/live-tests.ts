/** Tries a model and a channel for real before they are written down: lists the models with the key, asks the platform who the bot is. Spends nothing. */
import { resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import type { Secret } from "../../kit/secret.ts";
import { type Fields, listOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld } from "../world.ts";
import type { ModelWish } from "./choices.ts";

interface LiveTest {
  readonly ok: boolean;
  readonly say: string;
  /** Ids as the provider lists them. */
  readonly models: readonly string[];
}

/** Replaced in tests. */
export interface InitProbes {
  models(world: CliWorld, wish: ModelWish, signal: AbortSignal): Promise<LiveTest>;
  channels(world: CliWorld, config: Config): Promise<readonly { readonly ok: boolean; readonly say: string }[]>;
}

interface ListAddress {
  readonly url: string;
  headers(key: string): Record<string, string>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Where a provider lists its models, which costs nothing. A provider that is not here is not tried. */
const LISTS: Readonly<Record<string, ListAddress>> = {
  anthropic: {
    url: "https://api.anthropic.com/v1/models?limit=100",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  openai: { url: "https://api.openai.com/v1/models", headers: bearer },
  google: {
    url: "https://generativelanguage.googleapis.com/v1beta/models?pageSize=100",
    headers: (key) => ({ "x-goog-api-key": key }),
  },
  openrouter: { url: "https://openrouter.ai/api/v1/models/user", headers: bearer },
  mistral: { url: "https://api.mistral.ai/v1/models", headers: bearer },
  xai: { url: "https://api.x.ai/v1/models", headers: bearer },
  deepseek: { url: "https://api.deepseek.com/models", headers: bearer },
  groq: { url: "https://api.groq.com/openai/v1/models", headers: bearer },
};

const DEMO: LiveTest = { ok: true, say: "the demo model is always there", models: [] };
const NOT_TRIED: LiveTest = {
  ok: true,
  say: "not tried: it is not known where this provider lists its models",
  models: [],
};

export const systemInitProbes: InitProbes = { models: tryModels, channels: tryChannels };

async function tryModels(world: CliWorld, wish: ModelWish, signal: AbortSignal): Promise<LiveTest> {
  if (wish.kind === "demo") return DEMO;
  if (wish.kind === "login") return tryLogin(world, wish.folder);
  const list = wish.kind === "endpoint" ? { url: `${wish.baseUrl}/models`, headers: bearer } : LISTS[wish.provider];
  return list === undefined ? NOT_TRIED : listModels(list, wish.key, signal);
}

async function tryLogin({ environment, cwd }: CliWorld, folder: string): Promise<LiveTest> {
  const file = resolve(cwd, folder.replace(/^~(?=\/|$)/, environment.userHome), "auth.json");
  const ok = await Bun.file(file).exists();
  return {
    ok,
    say: ok ? `there is a login in ${folder}` : `there is no login at ${file}; log in with: pi`,
    models: [],
  };
}

async function listModels({ url, headers }: ListAddress, key: Secret | null, signal: AbortSignal): Promise<LiveTest> {
  const { host } = new URL(url);
  try {
    const response = await fetch(url, { headers: headers(key?.reveal() ?? "none"), signal, redirect: "error" });
    if (response.status === 401 || response.status === 403)
      return { ok: false, say: `${host} refuses this key (${response.status})`, models: [] };
    if (!response.ok) return { ok: false, say: `${host} answered with ${response.status}`, models: [] };
    const models = idsIn(recordOf(await response.json()));
    return { ok: true, say: `${host} accepts it and lists ${models.length} models`, models };
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    return { ok: false, say: `${host} cannot be reached (${because})`, models: [] };
  }
}

/** OpenAI and Anthropic call the list `data`, Google calls it `models` and each name `models/…`. */
function idsIn(body: Fields): readonly string[] {
  const entries = [...listOf(body["data"]), ...listOf(body["models"])].map(recordOf);
  return entries.map(({ id, name }) => textOf(id) || textOf(name).replace(/^models\//, "")).filter((id) => id !== "");
}

async function tryChannels(world: CliWorld, config: Config) {
  const { systemProbes } = await import("../doctor/probes.ts");
  const found = [
    ...((await systemProbes.telegram?.(world, config)) ?? []),
    await systemProbes.discord?.(world, config),
  ];
  return found.flatMap((one) => (one ? [{ ok: one.state !== "broken", say: one.say }] : []));
}
