/** What a pool knows about its processes, and the questions that only look. */
import type { AgentProcess, LeaseRequest, PoolStats } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { SessionKey } from "../contracts/ids.ts";
import type { Kind, Kinds } from "./kinds.ts";
import { hasPersonalWorkspaces } from "./setup/workspace.ts";
import type { PoolSize } from "./pool-size.ts";
import { countSpares, usefulSpares } from "./spares.ts";
import type { InspectSession } from "./setup/session-inspector.ts";
import type { ReadyAgent, StartDeps, StartSettings } from "./setup/start.ts";
import type { OpenSession } from "./talk/session.ts";
import type { WaitingList, Waiter } from "./waiting-list.ts";
import { type WorkerState, starting } from "./worker-state.ts";

export interface Worker {
  readonly id: number;
  readonly kind: Kind;
  state: WorkerState;
  /** What it was leased for last. */
  serves: LeaseRequest | null;
  agent: ReadyAgent | null;
  session: OpenSession | null;
  switches: number;
  readyAt: number;
  /** Ends the wait for eviction when the process is used again. */
  idle: AbortController | null;
  /** Started for a message that may come: no start of a turn waits for this one. */
  readonly isAhead: boolean;
  /** It is reading a session for a message that may come. Never rejects. */
  opening: Promise<void> | null;
  /** What was prepared in it and not used yet; without a session, only its start. */
  prepared: { readonly sessionFile: string | null; readonly at: number } | null;
}

/** Everything the functions of a pool share; one per pool. */
export interface Pool {
  readonly deps: StartDeps;
  /** Of the default agent: what all have in common is read from here. */
  readonly settings: StartSettings;
  readonly kinds: Kinds;
  readonly size: PoolSize;
  readonly isMemoryScarce: () => boolean;
  readonly startsAtOnce: number;
  readonly workers: Map<number, Worker>;
  readonly waiting: WaitingList;
  readonly stopping: AbortController;
  /** Starts and stops that are under way; closing waits for them. */
  readonly underWay: Set<Promise<void>>;
  model: string | null;
  readonly inspect: InspectSession;
  nextId: number;
  /** A look for a place for a spare is planned. */
  fillsLater: boolean;
}

export function newWorker(pool: Pool, kind: Kind, isAhead: boolean): Worker {
  const state = starting(pool.deps.clock.elapsed());
  return {
    id: pool.nextId++,
    kind,
    state,
    serves: null,
    agent: null,
    session: null,
    switches: 0,
    readyAt: 0,
    idle: null,
    isAhead,
    opening: null,
    prepared: null,
  };
}

export function alive(pool: Pool, kind: Kind | null = null): number {
  return [...pool.workers.values()].filter((one) => one.state.at !== "dead" && (!kind || one.kind === kind)).length;
}

/** One that was prepared for a message that has not come gives way before any that was used. */
export function idleOnes(pool: Pool): readonly { readonly id: number; readonly since: number }[] {
  return [...pool.workers.values()].flatMap(({ id, state }) =>
    state.at === "idle" ? [{ id, since: state.preparedAt === undefined ? state.since : 0 }] : [],
  );
}

export function hasOpen({ workers }: Pool, sessionKey: SessionKey): boolean {
  return workers.values().some(({ state, serves, session }) => {
    return state.at === "idle" && session !== null && serves?.caller.sessionKey === sessionKey;
  });
}

export function workerOf(pool: Pool, id: number): Worker {
  const found = pool.workers.get(id);
  if (!found) throw new GatewayError("internal", "the chosen process is not in the pool", { fields: { id } });
  return found;
}

export function wanted({ request }: Waiter, kind: Kind) {
  const { sessionFile, caller } = request;
  const unattended = caller.cause === "cron" || caller.cause === "heartbeat";
  const who = { principal: caller.principal, role: caller.role, ...(unattended ? { unattended } : {}) };
  return { ...who, sessionFile, profile: kind.signature };
}

export function spares(pool: Pool): number {
  const states = [...pool.workers.values()]
    .filter(({ kind }) => kind === pool.kinds.standard)
    .map(({ state }) => state);
  return countSpares(states, isShared(pool));
}

export function sparesToKeep({ settings }: Pool) {
  return usefulSpares({ min: settings.config.pool.min, personal: hasPersonalWorkspaces(settings.config) });
}

export function isShared({ settings }: Pool): boolean {
  return settings.config.pool.reuse === "profile";
}

export function statsOf(pool: Pool): PoolStats {
  const at = (state: WorkerState["at"]) => [...pool.workers.values()].filter((one) => one.state.at === state).length;
  return {
    starting: at("starting"),
    idle: at("idle"),
    busy: at("busy"),
    waiting: pool.waiting.size(),
    max: pool.size.max,
    maxBecause: pool.size.because,
    model: pool.model,
    trouble: troubleOf(pool),
  };
}

export function processesOf(pool: Pool): readonly AgentProcess[] {
  const now = pool.deps.clock.elapsed();
  return [...pool.workers.values()].flatMap(({ id, kind, agent, state }) => {
    if (state.at === "dead") return [];
    const served = state.at === "starting" ? null : state.served;
    return {
      id,
      pid: agent?.process.pid ?? null,
      agentId: kind.agentId,
      state: state.at,
      sinceMs: Math.round(now - state.since),
      person: served?.principal ?? null,
      role: served?.role ?? null,
    };
  });
}

/** Of agents only: a model that somebody chose for one conversation and that does not start is told there. */
function troubleOf({ kinds }: Pool): string | null {
  const troubled = kinds.own.find(({ starts }) => starts.trouble() !== null);
  const trouble = troubled?.starts.trouble() ?? null;
  return trouble === null || troubled === kinds.standard ? trouble : `Agent ${troubled?.agentId}: ${trouble}`;
}
