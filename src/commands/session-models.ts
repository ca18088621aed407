/** Finds the model that somebody means among those an agent can have. Asks pi what there is; decides nothing about who may choose. */
import { nearest } from "../kit/nearest.ts";
import { type AgentModel, type AgentPool, type Caller } from "../contracts/agent.ts";
import { THINKING_LEVELS } from "../contracts/session-settings.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { FoundModel, ProviderFacts, SessionModels } from "../contracts/session-models.ts";
import type { Clock } from "../kit/clock.ts";

interface SessionModelsDeps {
  readonly clock: Clock;
  readonly pool: Pick<AgentPool, "models">;
  /** What the gateway's settings and environment say about providers. */
  providers(): ProviderFacts;
}

const ASK_MS = 30_000;
const MAX_NAMED = 8;

export function createSessionModels(deps: SessionModelsDeps): SessionModels {
  const ask = async (caller: Caller, provider: string | undefined, signal: AbortSignal) => {
    const late = () => new GatewayError("pool_exhausted", `no agent said within ${ASK_MS} ms which models there are`);
    using limit = deps.clock.deadline(ASK_MS, late);
    const asked = provider === undefined ? { caller } : { caller, provider };
    return await deps.pool.models(asked, AbortSignal.any([signal, limit.signal]));
  };

  /** Of the agent's own provider as pi says, of the configured ones as the configuration does. */
  const offered = async (caller: Caller, signal: AbortSignal): Promise<readonly AgentModel[]> => {
    const own = await ask(caller, undefined, signal);
    const names = new Set(own.map(({ name }) => name));
    const others = Object.values(deps.providers().configured).flat();
    return [...own, ...others.filter(({ name }) => !names.has(name))];
  };

  const find = async (caller: Caller, query: string, signal: AbortSignal): Promise<FoundModel> => {
    const models = await offered(caller, signal);
    const here = pickModel(models, query);
    const provider = query.slice(0, Math.max(0, query.indexOf("/"))).toLowerCase();
    const ours = models.some(({ name }) => name.startsWith(`${provider}/`));
    if (here.kind !== "unknown" || provider === "" || ours) return here;
    const known = deps.providers().known;
    const provided = Object.hasOwn(known, provider) ? known[provider] : undefined;
    if (!provided) return { kind: "unknown", near: nearProviders(provider, Object.keys(known), here.near) };
    if (!provided.hasKey) return { kind: "no_key", provider, variables: provided.variables };
    return pickModel(await ask(caller, provider, signal), query);
  };

  return {
    async offer(caller, signal) {
      const models = await offered(caller, signal);
      const { known } = deps.providers();
      const providers = Object.keys(known).filter(
        (name) => known[name]?.hasKey === true && !models.some((model) => model.name.startsWith(`${name}/`)),
      );
      return { models, providers };
    },
    find,
    async findLevel(caller, { words, model }, signal) {
      const level = THINKING_LEVELS.find((name) => name === words.toLowerCase());
      if (!level) return { kind: "unknown", near: nearest(words, [...THINKING_LEVELS, "default"]) };
      const found = model === null ? null : await find(caller, model, signal);
      const able = found?.kind === "found" ? found.model : null;
      if (!able || able.thinking.includes(level)) return { kind: "found", level };
      return { kind: "not_here", model: able.name, levels: able.thinking };
    },
  };
}

/** A whole name, a whole id, or a part that only one name has. */
export function pickModel(models: readonly AgentModel[], query: string): FoundModel {
  const asked = query.toLowerCase();
  const idOf = (name: string) => name.slice(name.indexOf("/") + 1);
  const whole = models.find(({ name }) => name.toLowerCase() === asked);
  if (whole) return { kind: "found", model: whole };
  const ids = models.filter(({ name }) => idOf(name).toLowerCase() === asked);
  const fitting = ids.length > 0 ? ids : models.filter(({ name }) => name.toLowerCase().includes(asked));
  const [first, ...more] = fitting;
  if (first && more.length === 0) return { kind: "found", model: first };
  if (first) return { kind: "several", names: fitting.map(({ name }) => name).slice(0, MAX_NAMED) };
  return { kind: "unknown", near: nearModels(models, asked, idOf) };
}

function nearModels(models: readonly AgentModel[], asked: string, idOf: (name: string) => string): readonly string[] {
  const names = models.map(({ name }) => name);
  const close = nearest(asked, names);
  if (close !== null) return [close];
  const id = nearest(asked, names.map(idOf));
  return id === null ? names.slice(0, MAX_NAMED) : names.filter((name) => idOf(name) === id);
}

function nearProviders(provider: string, known: readonly string[], otherwise: readonly string[]): readonly string[] {
  const close = nearest(provider, known);
  return close === null ? otherwise : [`${close}/…`];
}
