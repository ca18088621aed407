/** One model call as a process asks for it: parsed, and judged by where it goes. Pure. Only model calls, only to the process's own providers. */
import type { ModelEndpoint } from "../config/index.ts";
import { PLACEHOLDER_KEY, PLACEHOLDER_LOGIN } from "../contracts/model-door.ts";

/** What the process said it wants. */
export interface CallRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  /** As pi calls it; empty: it did not say. */
  readonly model: string;
  /** The provider that pi means, where several have the same address; empty: it did not say. */
  readonly provider: string;
  /** Another model is asked when this one fails before its first word. */
  readonly more: boolean;
  /** Of that model, in dollars per million tokens. */
  readonly prices: TokenPrices;
}

/** pi has the prices of every model it knows. The gateway has none of its own. */
interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

interface Destination {
  readonly provider: string;
  readonly endpoint: ModelEndpoint;
}

const MAX_HEADERS = 100;
const MAX_NAME_CHARS = 200;
/** What the APIs of models are called by. With the key of an account much else could be done, such as reading files or making more keys. */
const MODEL_CALL = /\/(?:messages|chat\/completions|responses)$|:(?:generateContent|streamGenerateContent)$/;
/** Headers in which providers expect a key. */
const KEY_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cf-aig-authorization",
]);
/** They belong to one connection, or say what the gateway decides itself. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "expect",
  "cookie",
  "content-length",
  "accept-encoding",
]);
/** Of answers also those that describe bytes as they were before they were unpacked. */
const NOT_RETURNED: ReadonlySet<string> = new Set([...NOT_FORWARDED, "content-encoding", "set-cookie", "alt-svc"]);

/** Null: it is no request. */
export function parseCall(head: unknown): CallRequest | null {
  if (typeof head !== "object" || head === null) return null;
  const { method, url, headers, provider, model, more, prices } = head as Readonly<Record<string, unknown>>;
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url)) return null;
  if (!Array.isArray(headers) || headers.length > MAX_HEADERS) return null;
  const pairs = headers.filter(isPair);
  if (pairs.length !== headers.length) return null;
  return {
    method,
    url: new URL(url),
    headers: pairs,
    provider: nameIn(provider),
    model: nameIn(model),
    more: more === true,
    prices: pricesIn(prices),
  };
}

function nameIn(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_NAME_CHARS) : "";
}

function pricesIn(value: unknown): TokenPrices {
  const given = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const price = (name: string): number => {
    const one = given[name];
    return typeof one === "number" && Number.isFinite(one) && one > 0 ? one : 0;
  };
  return {
    input: price("input"),
    output: price("output"),
    cacheRead: price("cacheRead"),
    cacheWrite: price("cacheWrite"),
  };
}

function isPair(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
}

/** Where the call goes; a string says why it goes nowhere. */
export function destinationOf(
  { method, url, provider: meant }: CallRequest,
  providers: ReadonlyMap<string, ModelEndpoint>,
): Destination | string {
  const fitting = [...providers].filter(([, endpoint]) => isBelow(url, endpoint.baseUrl));
  const [provider, endpoint] = fitting.find(([name]) => name === meant) ?? fitting[0] ?? [];
  if (provider !== undefined && endpoint) {
    if (method !== "POST" || !MODEL_CALL.test(url.pathname)) return "Only model calls go through the gateway.";
    return { provider, endpoint };
  }
  return `${url.hostname} is not an address of this agent's providers.`;
}

/** The same origin, and a path below that of the base: `/v1` is not the beginning of `/v10`. */
function isBelow(url: URL, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  if (url.origin !== base.origin || url.username !== "" || url.password !== "") return false;
  const path = base.pathname.replace(/\/+$/, "");
  return url.pathname === path || url.pathname.startsWith(`${path}/`);
}

/** The headers as the provider gets them: the key where the placeholder was, and nothing that belongs to the connection. */
export function forwardedHeaders({ headers }: Pick<CallRequest, "headers">, key: string | null): Headers {
  const forwarded = new Headers();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (NOT_FORWARDED.has(lower)) continue;
    if (!value.includes(PLACEHOLDER_KEY)) forwarded.append(name, value);
    else if (KEY_HEADERS.has(lower) && key !== null) forwarded.append(name, withKey(value, key));
  }
  forwarded.set("accept-encoding", "identity"); // unpacking would hold back the first words
  return forwarded;
}

function withKey(value: string, key: string): string {
  return value.replaceAll(PLACEHOLDER_LOGIN, () => key).replaceAll(PLACEHOLDER_KEY, () => key);
}

export function returnedHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !NOT_RETURNED.has(name.toLowerCase()));
}
