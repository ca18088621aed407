/** Tries a model and a channel for real before they are written down: lists the models with the key, asks the platform who the bot is. Spends nothing. */
import { resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import type { KeyTest } from "../../contracts/model-keys.ts";
import { systemResolver } from "../../kit/outside/public-address.ts";
import type { CliWorld } from "../world.ts";
import type { ModelWish } from "./choices.ts";

/** Replaced in tests. */
export interface InitProbes {
  models(world: CliWorld, wish: ModelWish, signal: AbortSignal): Promise<KeyTest>;
  channels(world: CliWorld, config: Config): Promise<readonly { readonly ok: boolean; readonly say: string }[]>;
}

const DEMO: KeyTest = { ok: true, say: "the demo model is always there", models: [] };
const NOT_TRIED: KeyTest = {
  ok: true,
  say: "not tried: it is not known where this provider lists its models",
  models: [],
};

export const systemInitProbes: InitProbes = { models: tryModels, channels: tryChannels };

async function tryModels(world: CliWorld, wish: ModelWish, signal: AbortSignal): Promise<KeyTest> {
  if (wish.kind === "demo") return DEMO;
  if (wish.kind === "login") return tryLogin(world, wish.folder);
  const { modelListAt, modelListOf, tryModelKey } = await import("../../agents/index.ts");
  const list = wish.kind === "endpoint" ? modelListAt(wish.baseUrl) : modelListOf(wish.provider);
  if (list === null) return NOT_TRIED;
  return tryModelKey({ clock: world.clock, resolve: systemResolver }, list, wish.key, signal);
}

async function tryLogin({ environment, cwd }: CliWorld, folder: string): Promise<KeyTest> {
  const file = resolve(cwd, folder.replace(/^~(?=\/|$)/, environment.userHome), "auth.json");
  const ok = await Bun.file(file).exists();
  return {
    ok,
    say: ok ? `there is a login in ${folder}` : `there is no login at ${file}; log in with: pi`,
    models: [],
  };
}

async function tryChannels(world: CliWorld, config: Config) {
  const { systemProbes } = await import("../doctor/probes.ts");
  const found = [
    ...((await systemProbes.telegram?.(world, config)) ?? []),
    await systemProbes.discord?.(world, config),
  ];
  return found.flatMap((one) => (one ? [{ ok: one.state !== "broken", say: one.say }] : []));
}
