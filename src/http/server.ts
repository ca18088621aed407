/** Opens the port and closes it again. Puts the parts of this folder together; decides nothing itself. */
import type { Server } from "bun";
import { GatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";
import { type Auth, createAuth, type Identity } from "./access/auth.ts";
import { hexDigest } from "./access/digests.ts";
import { parseProxyRules, type ProxyRule } from "./access/client-address.ts";
import { createHosts, type Hosts } from "./access/hosts.ts";
import { createConversations } from "./chat/conversations.ts";
import { createByteRoom } from "./byte-room.ts";
import { createMediaLinks } from "./access/media-links.ts";
import { createPipeline, type Pipeline } from "./pipeline.ts";
import { problemResponse } from "./problem.ts";
import { createMatcher } from "./route-match.ts";
import { withPluginRoutes } from "./routes/plugins.ts";
import { routeTable } from "./route-table.ts";
import { maxChatBytes } from "./routes/chat.ts";
import { withWebhooks } from "./routes/platform-webhooks.ts";
import { createSockets, type SocketData, type Sockets } from "./ws/sockets.ts";
import type { AccessSettings, HttpDeps, HttpOptions, HttpServer } from "./types.ts";
import { createMethods } from "./ws/ws-methods.ts";

const IDLE_SECONDS = 60;
const STOP_GRACE_MS = 2_000;
const SIGNED_OUT = "Signed out.";
const COOKIE_SUFFIX_CHARS = 12;
/** Bun cuts off here without a word; routes refuse earlier, with one. */
const BODY_HEADROOM = 2;
/** The most that media.maxMb can say: Bun's own limit cannot follow the settings. */
const LARGEST_UPLOAD_BYTES = 25 * 1024 * 1024;

interface State {
  ready: boolean;
  port: number;
  access: { readonly hosts: Hosts; readonly proxies: readonly ProxyRule[] };
}

interface Parts {
  readonly auth: Auth;
  readonly sockets: Sockets;
  readonly pipeline: Pipeline;
}

/** Throws GatewayError `port_taken`. */
export function openHttp(deps: HttpDeps, options: HttpOptions): HttpServer {
  const stopping = new AbortController();
  const state: State = { ready: false, port: options.port, access: accessOf(deps, options, options.port, options) };
  const { auth, sockets, pipeline } = assemble(deps, options, { state, stopping: stopping.signal });
  const server = listen(deps, options, { sockets, pipeline });
  const port = server.port ?? options.port;
  state.port = port;
  state.access = accessOf(deps, options, port, options);
  sockets.attach();
  const revoked = deps.events.on("status", ({ what }) => {
    if (what === "keys")
      sockets.closeWhere((identity) => !auth.isCurrent(identity), "The key was revoked, or has expired.");
  });

  return {
    url: urlOf(options.hostname, port),
    port,
    conversations: createConversations(deps, { limits: options.limits, stopping: stopping.signal }),
    signInCode: () => auth.newCode(),
    isSignedIn: auth.isSignedIn,
    useCode: auth.useCode,
    closeSignedOut: () => closeSignedOut(auth, sockets),
    setReady(ready) {
      state.ready = ready;
    },
    update(settings) {
      auth.update(settings.auth);
      state.access = accessOf(deps, options, port, settings);
      sockets.closeWhere((identity) => !auth.isCurrent(identity), "The credential was changed. Sign in again.");
    },
    stats: () => ({ sockets: sockets.count(), requests: pipeline.inFlight() }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new GatewayError("stopping", "server stopping"));
      revoked[Symbol.dispose]();
      sockets[Symbol.dispose]();
      const idle = server.stop(false);
      using limit = deps.clock.deadline(STOP_GRACE_MS, () => new Error("requests still running"));
      const cutOff = () => deps.log.warn("requests cut off at stop", { requests: pipeline.inFlight() });
      await orAborted(idle, limit.signal).catch(cutOff);
      await server.stop(true);
    },
  };
}

async function closeSignedOut(auth: Pick<Auth, "isSignedIn">, sockets: Sockets): Promise<void> {
  const ended = new Set<string | null>();
  for (const signIn of sockets.signIns()) if (!(await auth.isSignedIn(signIn))) ended.add(signIn);
  sockets.closeWhere(({ signIn }) => signIn !== null && ended.has(signIn), SIGNED_OUT);
}

/** Null: the port, so that two gateways on one machine do not overwrite each other's cookie. Those that share their sign-ins share the cookie. */
function cookieSuffix({ severalGateways, mediaKey }: HttpOptions): string | null {
  return severalGateways ? hexDigest(mediaKey).slice(0, COOKIE_SUFFIX_CHARS) : null;
}

/** Somewhere a browser on this machine can go: "all addresses" is not one. */
function urlOf(hostname: string, port: number): string {
  const reachable = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

function assemble(
  deps: HttpDeps,
  options: HttpOptions,
  { state, stopping }: { readonly state: State; readonly stopping: AbortSignal },
): Parts {
  const cookieName = () => `pi_gateway_${cookieSuffix(options) ?? state.port}`;
  const { clock, ids, log, stream, store } = deps;
  const links = createMediaLinks(clock, options.mediaKey);
  const auth = createAuth(
    {
      clock,
      ids,
      log,
      signIns: store.signIns,
      keys: deps.people.keys,
      counts: deps.people.counts,
      elsewhere: deps.people.elsewhere,
    },
    { settings: options.auth, bindingKey: options.mediaKey, cookieName },
  );
  const methods = createMethods(deps, { links, stopping, limits: options.limits });
  const room = createByteRoom();
  const sockets = createSockets({ ids, log, stream, methods, room, auth });
  const signedOut = async (gone: Identity) => {
    sockets.closeWhere((identity) => identity.signIn === gone.signIn, SIGNED_OUT);
    await deps.people.elsewhere?.signedOut();
  };
  const table = routeTable(deps, {
    links,
    stopping,
    limits: options.limits,
    isReady: async () => state.ready && (await store.health.isWritable()),
    signIn: { auth, cookieName, signedOut },
  });
  const match = withWebhooks(withPluginRoutes(createMatcher(table), deps.operations.plugins), deps);
  const { agentTokens } = deps.tools;
  const access = () => state.access;
  const pipeline = createPipeline({ clock, ids, log, auth, agentTokens, links, match, room, stopping, access });
  return { auth, sockets, pipeline };
}

function listen(
  deps: Pick<HttpDeps, "log" | "ids">,
  options: HttpOptions,
  { sockets, pipeline }: Pick<Parts, "sockets" | "pipeline">,
): Server<SocketData> {
  try {
    return Bun.serve<SocketData>({
      port: options.port,
      hostname: options.hostname,
      reusePort: false, // said aloud: left out, a second server on the same port starts without an error and takes half of the requests
      development: false, // or errors would be shown with their source
      // Bun itself refuses more than 16 KiB of headers (431) and closes a connection that is silent for this long, also in the middle of headers.
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: maxChatBytes(LARGEST_UPLOAD_BYTES) * BODY_HEADROOM,
      fetch: (request, server) => pipeline.answer(request, server),
      websocket: sockets.handler,
      error(error) {
        const requestId = deps.ids.next("req");
        deps.log.error("server failed unexpectedly", { requestId, error });
        return problemResponse(error, requestId);
      },
    });
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause) || cause.code !== "EADDRINUSE") throw cause;
    throw new GatewayError("port_taken", `port ${options.port} is in use`, {
      cause,
      say: `Port ${options.port} is in use by another program. Stop that program, or choose another with --port.`,
    });
  }
}

function accessOf(
  deps: Pick<HttpDeps, "log">,
  bound: { readonly hostname: string },
  port: number,
  settings: AccessSettings,
): State["access"] {
  const { rules, unreadable } = parseProxyRules(settings.trustedProxies);
  if (unreadable.length > 0) deps.log.warn("trusted proxies not understood and left out", { entries: unreadable });
  return { hosts: createHosts({ hostname: bound.hostname, port }, settings.allowedHosts), proxies: rules };
}
