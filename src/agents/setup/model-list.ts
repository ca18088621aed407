/** Tries a provider's key for real: asks for the list of its models, which costs nothing. Says what happened, and never the key. */
import { type Fetched, guardedFetch, type GuardedFetchDeps } from "../../kit/outside/guarded-fetch.ts";
import { parseJson } from "../../kit/json.ts";
import type { KeyTest } from "../../contracts/model-keys.ts";
import type { Secret } from "../../kit/secret.ts";
import { isFields } from "../talk/protocol.ts";

interface ListAddress {
  readonly url: string;
  headers(key: string): Record<string, string>;
  /** The operator wrote it into the configuration, so that it may be on a private network. */
  readonly isOwn: boolean;
}

const LIMITS = { totalMs: 10_000, idleMs: 10_000, maxBytes: 4 * 1024 * 1024 };
const JSON_LIMITS = { maxChars: LIMITS.maxBytes, maxDepth: 32 };
/** What a server that wants no key is told. */
const NO_KEY = "none";

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const LISTS: Readonly<Record<string, Omit<ListAddress, "isOwn">>> = {
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

/** Where a provider that pi knows lists its models. Null: that is not known here. */
export function modelListOf(provider: string): ListAddress | null {
  const known = Object.hasOwn(LISTS, provider) ? LISTS[provider] : undefined;
  return known ? { ...known, isOwn: false } : null;
}

/** Of an endpoint that the operator names. */
export function modelListAt(baseUrl: string): ListAddress {
  return { url: `${baseUrl.replace(/\/$/, "")}/models`, headers: bearer, isOwn: true };
}

export async function tryModelKey(
  deps: GuardedFetchDeps,
  { url, headers, isOwn }: ListAddress,
  key: Secret | null,
  signal: AbortSignal,
): Promise<KeyTest> {
  const limits = isOwn ? { ...LIMITS, trustedOrigin: new URL(url).origin } : LIMITS;
  const request = { url, method: "GET", headers: headers(key?.reveal() ?? NO_KEY) } as const;
  return testOf(new URL(url).host, await guardedFetch(deps, request, limits, signal));
}

function testOf(host: string, answer: Fetched): KeyTest {
  const failed = (say: string): KeyTest => ({ ok: false, say, models: [] });
  if (answer.kind === "refused") return failed(`${host} may not be called: ${answer.because}`);
  if (answer.kind === "failed") return failed(`${host} cannot be reached (${answer.because})`);
  const { status, text } = answer;
  if (status === 401 || status === 403) return failed(`${host} refuses this key (${status})`);
  if (status === 404) return failed(`${host} lists no models at this address (404); most addresses end with /v1`);
  if (status < 200 || status >= 300) return failed(`${host} answered with ${status}`);
  const parsed = parseJson(text, JSON_LIMITS);
  const models = parsed.ok ? modelIdsIn(parsed.value) : null;
  if (models === null) return failed(`${host} answers, but with no list of models: this is not the address of its API`);
  return { ok: true, say: `${host} accepts it and lists ${models.length} models`, models };
}

/** OpenAI and Anthropic call the list `data`, Google calls it `models` and each name `models/…`. Null: it is no list. */
function modelIdsIn(body: unknown): readonly string[] | null {
  if (!isFields(body) || (body.data === undefined && body.models === undefined)) return null;
  const entries = [body.data, body.models].flatMap((list) => (Array.isArray(list) ? list.filter(isFields) : []));
  return entries.flatMap(({ id, name }) => {
    if (typeof id === "string" && id !== "") return [id];
    return typeof name === "string" && name !== "" ? [name.replace(/^models\//, "")] : [];
  });
}
