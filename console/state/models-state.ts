/** Model providers and models as System shows them: where keys come from, whether one works, and what models cost. */
import { signal } from "@preact/signals";
import type { AgentModel } from "../../src/contracts/agent.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { KeyTest, ProviderCard } from "../../src/contracts/model-keys.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { changeConfig } from "./config-state.ts";

/** Null: not read yet. */
type Read<T> = T | null | "failed";

export const providers = signal<Read<readonly ProviderCard[]>>(null);
export const models = signal<Read<{ readonly items: readonly AgentModel[]; readonly current: string | null }>>(null);

export async function readProviders(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/models/providers"]["result"]>("/api/models/providers");
  providers.value = answer.ok ? answer.value.items : (providers.value ?? "failed");
}

/** An agent is asked, which may have to be started first. */
export async function readModels(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/models"]["result"]>("/api/models");
  models.value = answer.ok ? answer.value : (models.value ?? "failed");
}

/** `key` null: the one that is set. */
export function testKey(provider: string, key: string | null): Promise<Answer<KeyTest>> {
  return sendJson("POST", "/api/models/test", key === null ? { provider } : { provider, key });
}

/** Null when it is in force, otherwise why not. */
export async function saveKey(provider: string, key: string | null): Promise<string | null> {
  const path = ["models", "keys", provider];
  const because = await changeConfig({ edits: [key === null ? { path } : { path, value: [{ value: key }] }] });
  await Promise.all([readProviders(), readModels()]);
  return because;
}
