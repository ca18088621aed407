/** Four search services behind one form: what to ask, and where in their answer the results are. Nothing in an answer is believed. */
import type { Config } from "../../../config/index.ts";
import { isObject } from "../../../kit/json.ts";
import type { GuardedRequest } from "../../../kit/outside/guarded-fetch.ts";

export type ProviderName = NonNullable<Config["tools"]["webSearch"]["provider"]>;

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

interface SearchProvider {
  readonly baseUrl: string | null; // null: has to be configured
  readonly needsKey: boolean;
  request(query: string, baseUrl: string, key: string): GuardedRequest;
  /** The raw results; undefined when the answer has another form. */
  results(answer: unknown): unknown;
  /** What title, address and snippet are called in a result. */
  readonly fields: readonly [title: string, url: string, snippet: string];
}

const MAX_RESULTS = 8;
const MAX_TITLE_CHARS = 300;
const MAX_URL_CHARS = 2_048;
const MAX_SNIPPET_CHARS = 1_000;
const json = { accept: "application/json" };

export const PROVIDERS: Readonly<Record<ProviderName, SearchProvider>> = {
  brave: {
    baseUrl: "https://api.search.brave.com/res/v1",
    needsKey: true,
    request: (q, base, key) => ({
      method: "GET",
      url: address(base, "/web/search", { q, count: String(MAX_RESULTS) }),
      headers: { ...json, "x-subscription-token": key },
    }),
    results: (answer) => at(at(answer, "web"), "results"),
    fields: ["title", "url", "description"],
  },
  serpapi: {
    baseUrl: "https://serpapi.com",
    needsKey: true,
    request: (q, base, key) => ({
      method: "GET",
      url: address(base, "/search.json", { engine: "google", q, api_key: key }),
      headers: json,
    }),
    // a search that found nothing carries an `error` that is none
    results: (answer) =>
      at(answer, "organic_results") ?? (at(at(answer, "search_metadata"), "status") === "Success" ? [] : undefined),
    fields: ["title", "link", "snippet"],
  },
  tavily: {
    baseUrl: "https://api.tavily.com",
    needsKey: true,
    request: (query, base, key) => ({
      method: "POST",
      url: address(base, "/search", {}),
      headers: { ...json, authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results: MAX_RESULTS }),
    }),
    results: (answer) => at(answer, "results"),
    fields: ["title", "url", "content"],
  },
  searxng: {
    baseUrl: null,
    needsKey: false,
    request: (q, base) => ({ method: "GET", url: address(base, "/search", { q, format: "json" }), headers: json }),
    results: (answer) => at(answer, "results"),
    fields: ["title", "url", "content"],
  },
};

function address(base: string, path: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(base.replace(/\/+$/, "") + path);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(key) : undefined;
}

/** Null: this is not an answer of that provider. Results without a usable address are left out. */
export function readResults(provider: SearchProvider, answer: unknown): readonly SearchResult[] | null {
  const raw = provider.results(answer);
  if (raw === undefined && isObject(answer) && !("error" in answer)) return [];
  if (!Array.isArray(raw)) return null;
  const [title, url, snippet] = provider.fields;
  return raw
    .flatMap((one): SearchResult[] => {
      const link = at(one, url);
      if (typeof link !== "string" || !isWebAddress(link)) return [];
      const words = (key: string, maxChars: number): string => plain(at(one, key), maxChars);
      return [{ title: words(title, MAX_TITLE_CHARS), url: link, snippet: words(snippet, MAX_SNIPPET_CHARS) }];
    })
    .slice(0, MAX_RESULTS);
}

function isWebAddress(text: string): boolean {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text) : null;
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };

/** Providers mark found words with tags, and write characters as entities. */
function plain(value: unknown, maxChars: number): string {
  if (typeof value !== "string") return "";
  return value
    .slice(0, maxChars * 4)
    .replaceAll(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_all, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .slice(0, maxChars)
    .toWellFormed();
}
