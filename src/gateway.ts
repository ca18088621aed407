/**
 * Builds the gateway in flow order; read this first. Stop is the reverse: new messages are refused, running turns finish, their replies are
 * delivered, the port closes, agents end, and the database closes last.
 */
import { createReplaceablePool, startPool } from "./agents/index.ts";
import { builtinChannels, builtinTools } from "./builtin.ts";
import { createChannelSet } from "./channels/index.ts";
import { type Config, type Environment, type LoadedConfig, publicConfig } from "./config/index.ts";
import { startOutbox } from "./delivery/index.ts";
import { createLiveTurns, createReceiver, startTurns } from "./flow/index.ts";
import {
  accessSettings,
  type HttpServer,
  listenOptions,
  openHttp,
  type PageAssets,
  type SessionPlace,
} from "./http/index.ts";
import type { Clock } from "./kit/clock.ts";
import type { Ids } from "./kit/ids.ts";
import { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import type { Secret } from "./kit/secret.ts";
import { createClientStream, createEvents } from "./observe/index.ts";
import { createQueue } from "./queue/index.ts";
import { type ConfigSource, createReloader } from "./reload.ts";
import { createRouter, DEFAULT_AGENT, parseSessionText } from "./routing/index.ts";
import { createStatus } from "./status.ts";
import { openSecretFiles, openStore } from "./store/index.ts";
import { createToolGate, createToolRegistry } from "./tools/index.ts";

export interface GatewayDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  setLogLevel(level: Config["logging"]["level"]): void;
  /** From now on this value is scrubbed from every log line. */
  hide(secret: Secret): void;
}

export interface GatewayOptions {
  readonly home: string;
  readonly version: string;
  readonly environment: Environment;
  readonly page: PageAssets;
  readonly bridgePath: string;
  /** Runs Bun, for the agent processes. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  readonly loaded: LoadedConfig;
  readonly configSource: ConfigSource;
}

export interface Gateway {
  readonly http: HttpServer;
  stop(reason: string): Promise<void>;
}

/** Longer than pi's own stop takes step by step. */
const AGENTS_STOP_MS = 15_000;
const REPLY_DRAIN_MS = 2_000;
/** What a turn may need on top of its grace time to be left behind in good order. */
const TURNS_MARGIN_MS = 10_000;

export async function startGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const life = new Lifetime(deps);
  try {
    return await build(life, deps, options);
  } catch (error) {
    await life.stop("start failed");
    throw error;
  }
}

async function build(life: Lifetime, deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { clock, log } = deps;
  const reloader = createReloader(deps, options.loaded, options.configSource);
  const { config } = reloader;

  // underneath
  const events = createEvents(deps);
  const store = life.own("store", await openStore(deps, { home: options.home }));
  const secrets = openSecretFiles(deps, options.home);
  const token = (from: Config): Secret => {
    const chosen = secrets.token(from.gateway.auth.token);
    deps.hide(chosen);
    return chosen;
  };
  const stream = createClientStream({ events }, { epoch: store.epoch });

  // tools and agents
  const tools = createToolGate({ ...deps, store: store.toolCalls, registry: createToolRegistry(builtinTools()) });
  const openPool = ({ agent, models }: Config) =>
    startPool({ ...deps, events, tools }, { ...options, config: agent, models });
  const pool = life.own("agents", createReplaceablePool(deps, await openPool(config())), AGENTS_STOP_MS);

  // the way of a message
  const named = builtinChannels({ events });
  const channels = createChannelSet(Object.values(named));
  const queue = createQueue({ ...deps, store }, () => config().queue);
  const stopping = new AbortController();
  const receiver = createReceiver(
    { log, events, queue, router: createRouter() },
    () => config().queue,
    stopping.signal,
  );
  const live = createLiveTurns({ clock, events, queue });
  const outbox = startOutbox({ ...deps, events, store: store.outbox, channels });

  // the port
  const about = { version: options.version, build: options.page.build };
  const http = openHttp(
    {
      ...deps,
      ...named,
      store,
      receiver,
      live,
      events,
      stream,
      page: options.page,
      sessions: { parse: placeOf },
      status: createStatus({ clock, pool, queue, outbox, channels, configNotices: reloader.notices }, about),
      publicConfig: () => publicConfig(config()),
      reloadConfig: reloader.reload,
    },
    { ...accessSettings(config(), token(config())), ...listenOptions(config()), mediaKey: secrets.mediaKey },
  );
  life.own("http", http);
  life.own("outbox", outbox);
  life.onStop("replies", () => outbox.drained(AbortSignal.timeout(REPLY_DRAIN_MS)).catch(() => undefined)); // what is left is sent by the next start

  // work begins
  log.info("queue recovered", await queue.recover());
  const turnOptions = () => ({ timeoutMs: config().agent.timeoutMs, graceMs: config().gateway.stopGraceMs });
  const turns = startTurns({ clock, log, events, queue, pool, outbox, live, media: store.media }, turnOptions);
  life.own("turns", turns, config().gateway.stopGraceMs + TURNS_MARGIN_MS);
  life.onStop("intake", () => stopping.abort(new Error("the gateway is stopping")));
  life.own("configuration", reloader.start({ events, http, pool, openPool, token, setLogLevel: deps.setLogLevel }));
  http.setReady(true);
  return { http, stop: (reason) => life.stop(reason) };
}

/** Today every session belongs to the page or to the HTTP API. */
function placeOf(text: string): SessionPlace | null {
  const name = parseSessionText(text, DEFAULT_AGENT);
  if (!name || name.agent !== DEFAULT_AGENT || name.scope !== "dm") return null;
  if (name.channel !== "webchat" && name.channel !== "api") return null;
  return { sessionKey: name.key, channel: name.channel, chat: name.id };
}
