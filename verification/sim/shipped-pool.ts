/**
 * The shipped pool in a simulated world: its line, its choices, its pauses and its replacements, with processes that are played. They start
 * slowly or not at all, die at rest, while a conversation is opened and in the middle of a turn, and remember whom they have served.
 */
import { startPool } from "../../src/agents/index.ts";
import type { PlayedAgents } from "../../src/agents/process/played.ts";
import type { ReadyAgent } from "../../src/agents/setup/start.ts";
import type { AgentLease, LeaseRequest } from "../../src/contracts/agent.ts";
import { GatewayError } from "../../src/contracts/errors.ts";
import type { Events } from "../../src/contracts/events.ts";
import type { SessionKey } from "../../src/contracts/ids.ts";
import type { ToolGate } from "../../src/contracts/tools/tool.ts";
import { type Deferred, deferred } from "../../src/kit/deferred.ts";
import { silentLog } from "../../src/kit/log.ts";
import { poolOptions } from "../../src/testing/agent-fixture.ts";
import { NO_USAGE } from "../../src/testing/fake-pool.ts";
import { checkLease, leaseOf, type PoolDeps, type SimPool } from "./agents.ts";
import type { Chance } from "../../src/testing/chance.ts";

/** Above every number that the system gives a process, so that nothing is found out about a stranger. */
const FIRST_PID = 5_000_000;
const NOWHERE = "/nowhere/simulated";
const MODEL = "sim/one";

/** One process that is played. */
interface Played {
  readonly pid: number;
  readonly ended: Deferred<{ because: "exited" | "stopped"; code: number | null; detail: string }>;
  alive: boolean;
  /** Its place in the pool is another's from then on. */
  toldToEnd: boolean;
  /** Whom it has served: one person in one role, for all its life. */
  served: string | null;
  busy: boolean;
  ready: boolean;
  /** What it did last leaves doubt about it. */
  doubtful: boolean;
  switches: number;
}

interface Limits {
  readonly min: number;
  readonly maxSwitches: number;
  readonly startsAtOnce: number;
}

interface Stage extends PoolDeps {
  readonly limits: Limits;
  readonly chance: Chance;
  readonly processes: Map<number, Played>;
  /** Conversations in which an agent is at work. */
  readonly open: Map<SessionKey, AbortSignal>;
  /** What ends the work in a conversation. */
  readonly stops: Map<SessionKey, AbortSignal>;
  /** Which process has had a conversation last. */
  readonly lastIn: Map<string, number>;
}

export async function startShippedPool(deps: PoolDeps & { readonly events: Events }): Promise<SimPool> {
  const { world, life, clock, events } = deps;
  const chance = world.chance.fork(`pool ${life.number}`);
  const max = world.options.agents;
  const sizes = {
    min: chance.between(0, 1),
    max,
    idleMs: chance.pick([5_000, 60_000]),
    waitMs: chance.pick([2_000, 60_000]),
    maxSwitches: chance.pick([2, 200]),
    maxAgeMs: chance.pick([30_000, 3_600_000]),
  };
  const startsAtOnce = chance.between(1, 2);
  const stage: Stage = {
    ...deps,
    chance,
    limits: { ...sizes, startsAtOnce },
    processes: new Map(),
    open: new Map(),
    stops: new Map(),
    lastIn: new Map(),
  };
  const options = poolOptions(NOWHERE, { pool: sizes }, { keys: {}, providers: {} });
  const own = { clock, ids: world.ids, log: silentLog, events, tools: NO_TOOLS, played: play(stage) };
  world.calls++; // it looks at the real disk once, in which no time passes here
  const pool = await startPool(own, { ...options, starts: { atOnce: startsAtOnce } }).finally(() => world.calls--);
  const { open } = stage;
  return {
    get open() {
      return open.size;
    },
    get waits() {
      const { idle, starting } = pool.stats();
      return idle + starting;
    },
    get leftOver() {
      return Math.max(0, pool.stats().idle - sizes.min);
    },
    busyWith: (sessionKey) => open.get(sessionKey)?.aborted === false,
    lease: (request, signal) => noted(stage, request, signal, pool.lease(request, signal)),
    processes: () => [],
    hasOpen: pool.hasOpen,
    prepare: pool.prepare,
    models: pool.models,
    stats: pool.stats,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      const left = alive(stage);
      if (left > 0) world.facts.wrong(`${left} processes are left after a stop`);
    },
  };
}

async function noted(
  stage: Stage,
  { caller }: LeaseRequest,
  signal: AbortSignal,
  lease: Promise<AgentLease>,
): Promise<AgentLease> {
  const { world, stops, processes } = stage;
  const free = (one: Played): boolean => one.alive && one.ready && !one.toldToEnd && !one.busy;
  stops.set(caller.sessionKey, signal);
  try {
    return await lease;
  } catch (error) {
    if (signal.aborted) throw error;
    world.facts.leaseErrors.add(caller.turnId);
    if ([...processes.values()].some((one) => free(one) && one.served === whomOf(caller)))
      world.facts.wrong(`${caller.turnId} gets no process while one of its own rests`);
    throw error;
  }
}

function play(stage: Stage): PlayedAgents {
  return {
    start: (_settings, signal) => startPlayed(stage, signal),
    open: ({ process }, now, request) => openPlayed(stage, process.pid, now?.path ?? null, request),
    lease: ({ process }, { request, session, giveBack }) => {
      const one = playedBy(stage, process.pid);
      const { sessionKey, turnId } = request.caller;
      one.busy = true;
      return leaseOf(stage, {
        request,
        chance: stage.chance.fork(turnId),
        giveBack: (ending) => {
          one.busy = false;
          stage.open.delete(sessionKey);
          one.doubtful = ending === "hung";
          if (ending === "died") die(stage, one, "in a turn");
          return giveBack(ending === "died" || ending === "hung" ? null : session);
        },
      });
    },
  };
}

async function startPlayed(stage: Stage, signal: AbortSignal): Promise<ReadyAgent> {
  const { world, chance, clock, processes } = stage;
  const one: Played = { pid: FIRST_PID + processes.size, ended: deferred(), alive: true, toldToEnd: false, ...UNUSED };
  processes.set(one.pid, one);
  world.facts.note(`process ${one.pid} starts`);
  if (unready(stage) > stage.limits.startsAtOnce) world.facts.wrong("more processes start at once than may");
  const places = [...processes.values()].filter((other) => other.alive && !other.toldToEnd).length;
  if (places > world.options.agents) world.facts.wrong("more processes run than the pool may have");
  const fails = !world.calm && chance.hits(world.options.agent.noLease);
  try {
    await clock.sleep(chance.between(5, 400), signal);
    if (fails) throw new GatewayError("agent_unavailable", "it does not start, says the simulation");
  } catch (error) {
    end(one, "stopped");
    throw error;
  }
  one.ready = true;
  if (!world.calm && chance.hits(world.options.agent.dies)) void dieAtRest(stage, one);
  return readyAgent(stage, one);
}

/** Sooner or later, if it is at rest then. */
async function dieAtRest(stage: Stage, one: Played): Promise<void> {
  await stage.clock.sleep(stage.chance.between(1, 20_000), new AbortController().signal);
  if (!one.busy) die(stage, one, "at rest");
}

async function openPlayed(stage: Stage, pid: number, now: string | null, request: LeaseRequest) {
  const { world, chance, clock, open, stops, lastIn, limits } = stage;
  const one = playedBy(stage, pid);
  const { caller, sessionFile: path } = request;
  const whom = whomOf(caller);
  checkLease(stage, request, open);
  if (one.served !== null && one.served !== whom) world.facts.wrong(`process ${pid} of ${one.served} serves ${whom}`);
  if (now === path && lastIn.get(path) !== pid) world.facts.wrong(`process ${pid} goes on with an old ${path}`);
  if (one.busy) world.facts.wrong(`process ${pid} serves two at once`);
  if (one.doubtful) world.facts.wrong(`process ${pid} is used again after it left doubt`);
  if (one.switches >= limits.maxSwitches) world.facts.wrong(`process ${pid} has served too many conversations`);
  one.served = whom;
  one.busy = true;
  if (now !== path) one.switches++;
  open.set(caller.sessionKey, stops.get(caller.sessionKey) ?? NEVER);
  await clock.sleep(chance.between(0, 20), NEVER);
  if (!world.calm && chance.hits(world.options.agent.dies / 4)) die(stage, one, `when ${path} was opened`);
  if (!one.alive) {
    open.delete(caller.sessionKey);
    one.busy = false;
    throw new GatewayError("agent_exited", "the process ended, says the simulation");
  }
  lastIn.set(path, pid);
  const session = { file: path, kept: path, path, bytes: request.settledBytes, model: MODEL, thinking: "off" };
  return { session, switched: now !== path, lost: { ...NO_USAGE } };
}

const UNUSED = { served: null, busy: false, ready: false, doubtful: false, switches: 0 };
const NEVER = new AbortController().signal;

function playedBy({ processes }: Stage, pid: number): Played {
  const one = processes.get(pid);
  if (!one) throw new Error(`there is no process ${pid}`);
  return one;
}

function die({ world }: Stage, one: Played, when: string): void {
  if (!one.alive) return;
  world.facts.note(`process ${one.pid} dies ${when}`);
  end(one, "exited");
}

function end(one: Played, because: "exited" | "stopped"): void {
  one.alive = false;
  one.ended.resolve({ because, code: because === "exited" ? 137 : 0, detail: "says the simulation" });
}

/** Starting, as far as nobody has given them up. */
function unready({ processes }: Stage): number {
  return [...processes.values()].filter((one) => one.alive && !one.ready && !one.toldToEnd).length;
}

function whomOf({ principal, role }: LeaseRequest["caller"]): string {
  return `${principal} as ${role}`;
}

function alive({ processes }: Stage): number {
  return [...processes.values()].filter((one) => one.alive).length;
}

const nobody = (): never => {
  throw new Error("a process that is played is not spoken to");
};
const NO_TOOLS: ToolGate = {
  specs: () => [],
  offered: async () => [],
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
  call: nobody,
  admit: nobody,
  recordRejected: nobody,
};

function readyAgent({ world, clock, chance }: Stage, one: Played): ReadyAgent {
  const talk = { request: nobody, send: nobody, onEvent: nobody, onDialog: nobody, onNote: nobody };
  const asking = { listen: nobody, hush: nobody, lastAsked: nobody };
  const ends = { ended: nobody, stopCalls: nobody, endLeftRunning: nobody };
  const calls = { began: nobody, updated: nobody, ...ends, showReal: nobody, instruct: nobody };
  const left = {
    leftRunning: nobody,
    endLeftRunning: nobody,
    processorSeconds: nobody,
    program: nobody,
    family: nobody,
  };
  const pipe = {
    push: () => ({ sent: Promise.resolve(), taken: Promise.resolve() }),
    serve: nobody,
    settled: nobody,
    ...calls,
    asking,
  };
  const process = {
    pid: one.pid,
    identity: null,
    memoryBytes: () => null,
    ended: one.ended.promise,
    onEnded: nobody,
    onExtensionError: nobody,
    ...talk,
    ...left,
    async stop() {
      one.toldToEnd = true;
      if (one.alive && !world.calm) await clock.sleep(chance.between(0, 50), NEVER);
      end(one, "stopped");
    },
  };
  const templates = new Set<string>();
  const door = { lease: () => undefined, refusal: () => null, failed: () => null, told: () => null };
  const disk = { begin: async () => undefined, look: async () => null };
  return {
    process,
    pipe,
    door,
    model: MODEL,
    thinking: "off",
    redact: (said) => said,
    templates,
    visits: "",
    disk,
    processors: null,
  };
}
