/**
 * The one way out to the network. The name is resolved here and the connection goes to the address that was judged, so that a name cannot
 * mean something else a moment later. No private addresses unless the operator chose the target; no proxies from the environment; no other
 * host by redirection; time and size are limited. Never throws for what the other side does: the result says what happened.
 */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.ts";
import { orAborted } from "../deferred.ts";
import { durationText } from "../duration.ts";
import { isGlobalAddress } from "./addresses.ts";
import { judgeHost, type Resolver } from "./public-address.ts";

export interface GuardedFetchDeps {
  readonly clock: Clock;
  readonly resolve: Resolver;
}

export interface GuardedRequest {
  readonly url: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface GuardedLimits {
  readonly totalMs: number;
  readonly idleMs: number;
  readonly maxBytes: number;
  /** An origin (`http://10.0.0.5:8080`) that the operator wrote into the configuration: private addresses and odd ports are right there. */
  readonly trustedOrigin?: string;
}

interface FetchedAnswer {
  readonly kind: "answered";
  readonly status: number;
  /** The body, read as UTF-8. */
  readonly text: string;
  /** When it wants to be asked again, if it said so. */
  readonly retryAfterMs?: number;
  /** The body as it came, for callers that know more about its encoding. */
  readonly body?: Uint8Array;
  /** The header of that name; empty when there was none. */
  readonly contentType?: string;
  /** Where the answer came from in the end. */
  readonly url?: string;
}

export type Fetched =
  | FetchedAnswer
  /** It was not called, or not further: the target is not allowed. `redirect`: where it wanted to send us instead. */
  | { readonly kind: "refused"; readonly because: string; readonly redirect?: string }
  | { readonly kind: "failed"; readonly because: "slow" | "large" | "unreachable" };

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const USUAL_PORTS: readonly string[] = ["", "80", "443"];

class Slow extends Error {}
class Large extends Error {}

export async function guardedFetch(
  deps: GuardedFetchDeps,
  request: GuardedRequest,
  limits: GuardedLimits,
  signal: AbortSignal,
): Promise<Fetched> {
  signal.throwIfAborted(); // not even the name is looked up
  using total = deps.clock.deadline(
    limits.totalMs,
    () => new Slow(`it took longer than ${durationText(limits.totalMs)}`),
  );
  const until = AbortSignal.any([signal, total.signal]);
  let url = request.url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const target = await orAborted(judge(deps, url, limits), until).catch((error: unknown) => failed(error, signal));
    if (!("address" in target)) return target;
    const answer = await callOnce(deps, { ...request, target }, limits, until).catch((error: unknown) =>
      failed(error, signal),
    );
    if (answer.kind !== "answered" || !REDIRECTS.includes(answer.status)) return answer;
    const next = redirectOf(target.url, answer.location, request.method);
    if (next === null) {
      const redirect = webAddress(answer.location, target.url.href);
      const because = "it answered with a redirection that is not followed";
      return { kind: "refused", because, ...(redirect === null ? {} : { redirect }) };
    }
    url = next;
  }
  return { kind: "refused", because: "it redirects in circles" };
}

interface Target {
  readonly url: URL;
  readonly address: string;
  /** The operator chose it. */
  readonly trusted: boolean;
}

type Stopped = Exclude<Fetched, { kind: "answered" }>;

export async function judge(
  deps: GuardedFetchDeps,
  text: string,
  limits: Pick<GuardedLimits, "trustedOrigin">,
): Promise<Target | Stopped> {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:"))
    return { kind: "refused", because: "only http and https are called" };
  if (url.username !== "" || url.password !== "") return { kind: "refused", because: "the address carries a password" };
  const trusted = limits.trustedOrigin !== undefined && url.origin === URL.parse(limits.trustedOrigin)?.origin;
  if (!trusted && !USUAL_PORTS.includes(url.port)) return { kind: "refused", because: "the port is not a usual one" };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const judged = await judgeHost(deps.resolve, host, trusted);
  if ("address" in judged) return { url, address: judged.address, trusted };
  if (judged.refused === "unknown_name") return { kind: "failed", because: "unreachable" };
  return { kind: "refused", because: "it is on a private network" };
}

function webAddress(location: string, from: string): string | null {
  const url = URL.parse(location, from);
  return url && ["http:", "https:"].includes(url.protocol) ? url.href : null;
}

/** Same host, nothing less safe, and only what has no body. */
function redirectOf(from: URL, location: string, method: string): string | null {
  const to = URL.parse(location, from.href);
  if (!to || method !== "GET" || to.host !== from.host) return null;
  return from.protocol === "https:" && to.protocol !== "https:" ? null : to.href;
}

interface TargetedRequest extends GuardedRequest {
  readonly target: Target;
}

type Answered = Extract<Fetched, { kind: "answered" }> & { readonly location: string };

async function callOnce(
  deps: GuardedFetchDeps,
  request: TargetedRequest,
  limits: GuardedLimits,
  signal: AbortSignal,
): Promise<Answered> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  try {
    const response = await orAborted(withIdleLimit(deps, limits, send(request, until)), until);
    const peer = response.socket.remoteAddress;
    if (!request.target.trusted && peer !== undefined && !isGlobalAddress(peer)) throw new Error("connected elsewhere");
    const body = await readBody(deps, response, limits, until);
    const { location = "", "retry-after": later, "content-type": contentType = "" } = response.headers;
    return {
      kind: "answered",
      status: response.statusCode ?? 0,
      text: body.toString("utf8"),
      body,
      contentType,
      url: request.target.url.href,
      location,
      ...pauseOf(later),
    };
  } finally {
    over.abort(new Error("the call is over")); // closes the connection, whatever state it is in
  }
}

/** Only the form in seconds: the other one needs two clocks that agree. */
function pauseOf(retryAfter: string | undefined): { readonly retryAfterMs?: number } {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {};
}

export async function send(
  { target, method, headers, body }: TargetedRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, address } = target;
  const family = address.includes(":") ? 6 : 4;
  const { request: call } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  signal.throwIfAborted(); // a call that ended meanwhile tells nobody any more that it did
  return new Promise((resolve, reject) => {
    const request = call(
      url,
      {
        method,
        agent: false,
        headers: { ...headers, "accept-encoding": "identity", "user-agent": "pi-gateway" },
        lookup: (_host, options, callback) =>
          options.all ? callback(null, [{ address, family }]) : callback(null, address, family),
      },
      resolve,
    );
    request.on("error", reject);
    signal.addEventListener("abort", () => request.destroy(), { once: true });
    request.end(body);
  });
}

async function readBody(
  deps: GuardedFetchDeps,
  response: IncomingMessage,
  { maxBytes, idleMs }: GuardedLimits,
  signal: AbortSignal,
): Promise<Buffer> {
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw new Large();
  if ((response.headers["content-encoding"] ?? "identity") !== "identity")
    throw new Error("encoded although not asked for");
  const chunks: Buffer[] = [];
  let bytes = 0;
  const pieces = response[Symbol.asyncIterator]();
  for (;;) {
    const next = await orAborted(withIdleLimit(deps, { idleMs }, pieces.next()), signal);
    if (next.done) return Buffer.concat(chunks);
    const piece = Buffer.from(next.value);
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new Large();
    chunks.push(piece);
  }
}

export async function withIdleLimit<T>(
  { clock }: Pick<GuardedFetchDeps, "clock">,
  { idleMs }: Pick<GuardedLimits, "idleMs">,
  step: Promise<T>,
): Promise<T> {
  using idle = clock.deadline(idleMs, () => new Slow(`it sent nothing for ${durationText(idleMs)}`));
  return await orAborted(step, idle.signal);
}

/** Being told to stop is not a failure of the other side. */
function failed(error: unknown, signal: AbortSignal): Stopped {
  if (signal.aborted) throw signal.reason;
  if (error instanceof Slow) return { kind: "failed", because: "slow" };
  return { kind: "failed", because: error instanceof Large ? "large" : "unreachable" };
}
