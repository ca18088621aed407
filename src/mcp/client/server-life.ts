/**
 * The connection of one MCP server over time: opened by whoever needs it first, kept while calls run and a while longer, opened again after
 * pauses that grow when it fails. Knows nothing of tools.
 */
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { McpServerState } from "../../contracts/mcp.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { createIdleTimer, type IdleTimer } from "../../kit/idle-timer.ts";
import { pauseAfter, WORKED_MS } from "./backoff.ts";
import type { Connected } from "./connection.ts";

interface LifeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly server: string;
  times(): { readonly startMs: number; readonly idleMs: number };
  /** Opens the connection, up to the point where calls can be made. */
  open(parts: LifeParts, signal: AbortSignal): Promise<Connected>;
}

/** What a connection tells. */
export interface LifeParts {
  closed(why: string): void;
  heard(): void;
}

export interface ServerLife extends AsyncDisposable {
  /** `now`: also in the pause after a failure. Rejects with GatewayError `mcp_unavailable`, or what `open` rejected with. */
  connection(signal: AbortSignal, now?: "now"): Promise<Connected>;
  /** Until it is disposed, nobody stops the server because it is idle. */
  use(): Disposable;
  /** Ends the connection: the server is not trusted any more. The next call opens another one. */
  drop(why: string): void;
  /** What is started from now on has other settings; what runs is ended. */
  renew(): void;
  /** Something was heard from it after this moment, as `clock.elapsed()` counts. */
  heardSince(moment: number): boolean;
  state(): LifeState;
}

interface LifeState {
  readonly state: Exclude<McpServerState, "off">;
  readonly connected: Connected | null;
  /** As a sentence. */
  readonly trouble: string | null;
  readonly nextTryAt: number | null;
}

interface World {
  readonly deps: LifeDeps;
  /** Set while a connection is being opened, whoever waits for it. */
  opening: Promise<Connected> | null;
  running: { readonly connected: Connected; readonly since: number } | null;
  failure: { readonly count: number; readonly because: string; readonly nextTryAt: number } | null;
  lastHeard: number;
  readonly idle: IdleTimer;
  readonly over: AbortController;
}

export function createServerLife(deps: LifeDeps): ServerLife {
  const world: World = {
    deps,
    opening: null,
    running: null,
    failure: null,
    lastHeard: 0,
    idle: createIdleTimer(deps.clock, {
      idleMs: () => deps.times().idleMs,
      unused: () => end(world, "nobody has needed it for a while"),
    }),
    over: new AbortController(),
  };
  return {
    connection: (signal, now) => connectionOf(world, signal, now),
    use: () => world.idle.use(),
    drop(why) {
      const connected = world.running?.connected;
      if (connected !== undefined) closed(world, connected, why);
    },
    renew() {
      world.failure = null;
      end(world, "its settings have changed");
    },
    heardSince: (moment) => world.lastHeard > moment,
    state: () => stateOf(world),
    async [Symbol.asyncDispose]() {
      world.over.abort(new Error("the MCP server is not needed any more"));
      world.idle[Symbol.dispose]();
      const { running } = world;
      world.running = null;
      await world.opening?.catch(() => undefined); // ended by the signal
      await running?.connected.close();
    },
  };
}

async function connectionOf(world: World, signal: AbortSignal, now?: "now"): Promise<Connected> {
  const { clock, server } = world.deps;
  if (world.over.signal.aborted) throw unavailable(server, "The gateway is stopping.");
  if (world.running !== null) return world.running.connected;
  const { failure } = world;
  const pause = failure === null ? 0 : failure.nextTryAt - clock.now();
  if (failure !== null && world.opening === null && now === undefined && pause > 0)
    throw unavailable(server, `${sentence(failure.because)} It is tried again ${soon(pause)}.`);
  world.opening ??= begin(world);
  return await orAborted(world.opening, signal).catch((error: unknown) => {
    if (signal.aborted || isGatewayError(error)) throw error;
    throw unavailable(server, sentence(reasonOf(error)));
  });
}

function begin(world: World): Promise<Connected> {
  const opening = open(world)
    .catch((error: unknown) => {
      if (!world.over.signal.aborted) failed(world, reasonOf(error));
      throw error;
    })
    .finally(() => {
      world.opening = null;
    });
  opening.catch(() => undefined); // whoever waits for it hears of it
  return opening;
}

async function open(world: World): Promise<Connected> {
  const { clock, log, server, ...deps } = world.deps;
  const { startMs } = deps.times();
  using limit = clock.deadline(startMs, () => new Error(`it did not start within ${startMs} ms`));
  const until = AbortSignal.any([world.over.signal, limit.signal]);
  let mine: Connected | null = null;
  let gone: string | null = null;
  const parts: LifeParts = {
    heard() {
      world.lastHeard = clock.elapsed();
    },
    closed(why) {
      gone = why;
      if (mine !== null) closed(world, mine, why);
    },
  };
  mine = await orAborted(deps.open(parts, until), until);
  if (gone !== null) throw new Error(gone);
  world.running = { connected: mine, since: clock.elapsed() }; // a failure of before is forgotten once it has worked for a while
  log.info("MCP server connected", { server, protocol: mine.protocol });
  world.idle.restart();
  return mine;
}

function failed(world: World, because: string): void {
  const { clock, log, server } = world.deps;
  const count = (world.failure?.count ?? 0) + 1;
  world.failure = { count, because, nextTryAt: clock.now() + pauseAfter(count) };
  log.warn("MCP server failed", { server, because, failures: count });
}

/** An end that nobody asked for is a failure, and the first one of a server that had worked for a while. */
function closed(world: World, connected: Connected, why: string): void {
  if (world.running?.connected !== connected) return;
  const worked = world.deps.clock.elapsed() - world.running.since >= WORKED_MS;
  world.running = null;
  if (worked) world.failure = null;
  failed(world, why);
  void connected.close(); // never rejects
}

function end(world: World, because: string): void {
  const { running } = world;
  world.running = null;
  if (running === null) return;
  world.failure = null;
  world.deps.log.info("MCP server stopped", { server: world.deps.server, because });
  void running.connected.close(); // never rejects
}

function stateOf({ running, opening, failure }: World): LifeState {
  if (running !== null) return { state: "running", connected: running.connected, trouble: null, nextTryAt: null };
  const trouble = failure && sentence(failure.because);
  const state = opening ? "starting" : failure ? "waiting" : "idle";
  return { state, connected: null, trouble, nextTryAt: failure?.nextTryAt ?? null };
}

export function unavailable(server: string, because: string): GatewayError {
  const say = `The MCP server ${server} is not available. ${because}`;
  return new GatewayError("mcp_unavailable", say, { say });
}

function reasonOf(error: unknown): string {
  if (isGatewayError(error)) return error.say;
  return error instanceof Error && error.message !== "" ? error.message : "it failed without saying why";
}

/** Error output of programs has many lines; here it is a part of one. */
function sentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const whole = line.slice(0, 1).toUpperCase() + line.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

function soon(ms: number): string {
  return `in ${Math.max(1, Math.ceil(ms / 1_000))} s`;
}
