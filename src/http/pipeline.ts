/** The path of every request: gate, route, body, handler, headers. The only place that turns an error into a response. */
import type { Server } from "bun";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { AgentTokens } from "../contracts/tools/agent-token.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Auth } from "./access/auth.ts";
import { readBytes, readJson } from "./body.ts";
import type { ByteRoom, HeldBytes } from "./byte-room.ts";
import { type ProxyRule, readClient } from "./access/client-address.ts";
import { authorize, isUpgrade, refuseStrangers } from "./access/gate.ts";
import type { Hosts } from "./access/hosts.ts";
import type { MediaLinks } from "./access/media-links.ts";
import { openAiProblem, speaksOpenAi } from "./openai/problem.ts";
import { logProblem, problemResponse } from "./problem.ts";
import { bytesOf, type Call, type Reply, type Route } from "./route.ts";
import type { createMatcher, Match } from "./route-match.ts";
import type { SocketData } from "./ws/sockets.ts";

/** Sockets and requests together. */
export const MAX_CONNECTIONS = 12_000;
/** Requests of one client that have not (yet) shown who they are. */
const MAX_UNKNOWN_PER_CLIENT = 50;

/** What may come as the body of a route that takes none. */
const MAX_IGNORED_BYTES = 64 * 1024;
const FIRST_CHUNK_MS = 1_000;
const UNKNOWN_HOST = "http://unknown.invalid";

interface PipelineDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly auth: Auth;
  readonly agentTokens: AgentTokens;
  readonly links: MediaLinks;
  readonly match: ReturnType<typeof createMatcher>;
  readonly room: ByteRoom;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Read for every request, so that a reload counts from the next one on. */
  access(): { readonly hosts: Hosts; readonly proxies: readonly ProxyRule[] };
}

export interface Pipeline {
  answer(request: Request, server: Server<SocketData>): Promise<Response | undefined>;
  inFlight(): number;
}

export function createPipeline(deps: PipelineDeps): Pipeline {
  const unknownByClient = createCounts();
  let inFlight = 0;

  const run = async (request: Request, server: Server<SocketData>, requestId: string): Promise<Reply> => {
    if (deps.stopping.aborted) throw deps.stopping.reason;
    if (server.pendingWebSockets + server.pendingRequests > MAX_CONNECTIONS) throw tooMany("connections");
    const { hosts, proxies } = deps.access();
    const { path, query, host } = addressOf(request);
    const { headers, method } = request;
    const match = deps.match(method, path);
    refuseStrangers(hosts, { headers, method, query, host }, match);
    const client = readClient(server.requestIP(request)?.address ?? "", headers, proxies);

    if (!unknownByClient.add(client.key, MAX_UNKNOWN_PER_CLIENT)) throw tooMany("unknown requests");
    using unknown = onceDisposed(() => unknownByClient.remove(client.key));
    const allowed = await authorize(
      { auth: deps.auth, agentTokens: deps.agentTokens, links: deps.links, hosts },
      { headers, method, query, host, client },
      match,
    ).catch((error: unknown) => rejected(match, error, null));
    if (allowed.identity !== null || allowed.agent !== null) unknown[Symbol.dispose]();
    if (match.kind === "unknown") throw new GatewayError("not_found", "no such path");
    if (match.kind === "wrong_method") throw new GatewayError("method_not_allowed", "no such method here");

    const { route, params } = match;
    const ending = allowed.identity === null ? [] : [deps.auth.ending(allowed.identity)];
    const signal = AbortSignal.any([request.signal, deps.stopping, ...ending]);
    using held = deps.room.open();
    const body = await readBody(deps.clock, request, route, held).catch((error: unknown) => {
      if (route.auth === "hook") deps.log.warn("hook refused", { client: client.key, because: "body not taken" });
      return rejected(match, error, allowed);
    });
    return await route.handle({ request, requestId, server, params, query, client, signal, ...allowed, ...body });
  };

  return {
    inFlight: () => inFlight,
    async answer(request, server) {
      const requestId = deps.ids.next("req");
      const startedAt = deps.clock.elapsed();
      inFlight++;
      try {
        const reply = await run(request, server, requestId);
        if (reply === "upgraded") return undefined;
        return finished(reply, requestId);
      } catch (error) {
        if (request.signal.aborted) deps.log.debug("client gone", { requestId, method: request.method });
        else logProblem(deps.log, error, { requestId, method: request.method });
        await passFirstChunk(deps.clock, request);
        const problem = speaksOpenAi(request.url) ? openAiProblem(error, requestId) : problemResponse(error, requestId);
        return finished(problem, requestId, hasUnreadBody(request));
      } finally {
        inFlight--;
        const ms = Math.round(deps.clock.elapsed() - startedAt);
        deps.log.debug("request answered", { requestId, method: request.method, ms });
      }
    },
  };
}

function rejected(match: Match, error: unknown, asking: Parameters<NonNullable<Route["refused"]>>[1]): never {
  if (match.kind === "row" && isGatewayError(error)) match.route.refused?.(error, asking);
  throw error;
}

async function readBody(
  clock: Clock,
  request: Request,
  route: Route,
  held: HeldBytes,
): Promise<Pick<Call, "json" | "bytes">> {
  const none = { json: undefined, bytes: new Uint8Array() };
  if (route.body.kind === "json")
    return { ...none, json: await readJson(clock, request, bytesOf(route.body.maxBytes), held) };
  if (route.body.kind === "bytes")
    return { ...none, bytes: await readBytes(clock, request, bytesOf(route.body.maxBytes), held) };
  // Read and dropped, so that a malformed body is noticed before anything is done.
  if (route.method !== "GET") await readBytes(clock, request, MAX_IGNORED_BYTES, held);
  return none;
}

/** Bun gives only the path when the Host header is not a host; the gate refuses those next. */
function addressOf(request: Request): { path: string; query: URLSearchParams; host: string | null } {
  const url = URL.parse(request.url, UNKNOWN_HOST);
  if (url === null) throw new GatewayError("bad_request", "unreadable address");
  return { path: url.pathname, query: url.searchParams, host: request.url.startsWith("/") ? null : url.host };
}

function hasUnreadBody(request: Request): boolean {
  return request.body !== null && !isUpgrade(request.headers);
}

/** Lets Bun see whether the chunks of a refused body are well formed. If not, it closes the connection with its one 400, and our answer is dropped. */
async function passFirstChunk(clock: Clock, request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed || !request.headers.has("transfer-encoding")) return;
  using limit = clock.deadline(FIRST_CHUNK_MS, () => new Error("no chunk in time"));
  // Whatever comes is thrown away; that nothing readable came is seen by Bun, not here.
  await orAborted(request.body.getReader().read(), limit.signal).catch(() => undefined);
}

/** Headers that every response carries. There are no CORS headers, on purpose: no other site may read anything. */
function finished(response: Response, requestId: string, close = false): Response {
  const { headers } = response;
  headers.set("x-request-id", requestId);
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  headers.append("vary", "Origin");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  // What is left of a refused body must not be read as the next request.
  if (close) headers.set("connection", "close");
  return response;
}

function tooMany(what: string): GatewayError {
  return new GatewayError("too_many_connections", `too many ${what}`, { fields: { retryAfterMs: 1_000 } });
}

function createCounts(): { add(key: string, max: number): boolean; remove(key: string): void } {
  const counts = new Map<string, number>();
  return {
    add(key, max) {
      const count = counts.get(key) ?? 0;
      if (count >= max) return false;
      counts.set(key, count + 1);
      return true;
    },
    remove(key) {
      const count = counts.get(key) ?? 0;
      if (count <= 1) counts.delete(key);
      else counts.set(key, count - 1);
    },
  };
}

function onceDisposed(dispose: () => void): Disposable {
  let done = false;
  return {
    [Symbol.dispose]() {
      if (!done) dispose();
      done = true;
    },
  };
}
