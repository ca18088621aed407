/** `web_search`: asks the configured search service and hands on what it found, marked as coming from outside. Opens none of the pages. */
import { Type } from "typebox";
import type { Config } from "../../../config/index.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Ids } from "../../../kit/ids.ts";
import { parseJson } from "../../../kit/json.ts";
import { type Fetched, guardedFetch } from "../../../kit/outside/guarded-fetch.ts";
import type { Resolver } from "../../../kit/outside/public-address.ts";
import { wrapUntrusted } from "../../../kit/marks/untrusted.ts";
import { closed, defineTool, MINUTE_MS } from "../define.ts";
import { PROVIDERS, readResults, type SearchResult } from "./providers.ts";
import { createResultsCache } from "./results-cache.ts";

export interface WebSearchDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly resolve: Resolver;
  settings(): WebSearchSettings;
}

export type WebSearchSettings = Config["tools"]["webSearch"];

const MAX_QUERY_CHARS = 400;
const LIMITS = { totalMs: 20_000, idleMs: 10_000, maxBytes: 2 * 1024 * 1024 } as const;
const JSON_LIMITS = { maxChars: LIMITS.maxBytes, maxDepth: 64 };

export function webSearch(deps: WebSearchDeps): Tool {
  const cache = createResultsCache(deps.clock);
  return defineTool({
    name: "web_search",
    label: "Web search",
    description: "Searches the web for current information and returns titles, addresses and snippets.",
    parameters: Type.Object(
      { query: Type.String({ minLength: 1, maxLength: MAX_QUERY_CHARS, description: "The search query" }) },
      closed,
    ),
    flags: { idempotent: true },
    limit: { calls: 10, perMs: MINUTE_MS, durable: true },
    timeoutMs: LIMITS.totalMs + 5_000,
    async run({ query }, { signal }) {
      const asked = query
        .replaceAll(/[\p{Cc}\s]+/gu, " ")
        .trim()
        .toWellFormed();
      if (asked === "") throw new Error("The query is empty. Say what to search for.");
      const settings = deps.settings();
      const key = JSON.stringify([settings.provider, settings.baseUrl, asked.toLowerCase()]);
      const kept = cache.get(key);
      const results = kept ?? (await search(deps, settings, asked, signal));
      if (kept === null) cache.put(key, results); // a question that is often asked is searched again all the same
      const text = wrapUntrusted(deps.ids, { source: "web_search", text: JSON.stringify({ results }) });
      return { content: [{ type: "text", text }], details: { results } };
    },
  });
}

async function search(
  deps: WebSearchDeps,
  { provider: name, apiKey, baseUrl }: WebSearchSettings,
  query: string,
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  if (name === undefined) throw new Error("Web search is not set up. An operator can do that with tools.webSearch.");
  const provider = PROVIDERS[name];
  const base = baseUrl ?? provider.baseUrl;
  if (base === null) throw new Error("Web search is not set up: tools.webSearch.baseUrl is missing.");
  if (provider.needsKey && !apiKey) throw new Error("Web search is not set up: tools.webSearch.apiKey is missing.");
  const request = provider.request(query, base, apiKey?.reveal() ?? "");
  // what the operator wrote down may be on a private network; where a provider lives by default may not
  const limits = { ...LIMITS, ...(baseUrl === undefined ? {} : { trustedOrigin: baseUrl }) };
  const fetched = await guardedFetch(deps, request, limits, signal);
  const answer = readAnswer(fetched);
  const results = readResults(provider, answer);
  if (results === null) throw new Error("The search service answered in a form that is not its own. Try again later.");
  return results;
}

/** Never repeats what the service said: it may hold the key. */
function readAnswer(fetched: Fetched): unknown {
  if (fetched.kind === "refused") throw new Error(`The search service was not called: ${fetched.because}.`);
  if (fetched.kind === "failed") throw new Error(FAILURES[fetched.because]);
  const { status, text } = fetched;
  if (status === 429) throw new Error("The search service limits requests right now. Try again in a moment.");
  if (status === 401 || status === 403)
    throw new Error("The search service refused the key. An operator should check tools.webSearch.apiKey.");
  if (status < 200 || status > 299) throw new Error(`The search service has a problem (${status}). Try again later.`);
  const parsed = parseJson(text, JSON_LIMITS);
  if (!parsed.ok) throw new Error("The search service answered with something that is not JSON. Try again later.");
  return parsed.value;
}

const FAILURES = {
  slow: `The search service did not answer in time (${LIMITS.idleMs / 1_000} s without a byte, ${LIMITS.totalMs / 1_000} s in all). Try again later.`,
  large: "The search service answered with more than is read. Try a narrower query.",
  unreachable: "The search service could not be reached. Try again later.",
} as const;
