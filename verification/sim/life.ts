/** One run of the gateway in a simulated world: the shipped store, queue, flow and outbox, put together as gateway.ts does it. */
import type { Queue } from "../../src/contracts/queue.ts";
import type { Receiver } from "../../src/contracts/channel.ts";
import type { Store } from "../../src/contracts/store.ts";
import type { TurnFinish } from "../../src/contracts/store/turns.ts";
import type { WaitingMessages } from "../../src/contracts/flow.ts";
import type { TurnId } from "../../src/contracts/ids.ts";
import type { Outbox } from "../../src/contracts/delivery.ts";
import type { Log } from "../../src/kit/log.ts";
import { silentLog } from "../../src/kit/log.ts";
import { startOutbox } from "../../src/delivery/index.ts";
import { createLiveTurns, createWaitingMessages, startTurns } from "../../src/flow/index.ts";
import type { Router } from "../../src/contracts/routing.ts";
import { createEvents } from "../../src/observe/index.ts";
import { createQueue } from "../../src/queue/index.ts";
import { quietReceiver } from "../../src/testing/worlds/quiet-receiver.ts";
import { quietTurns } from "../../src/testing/worlds/quiet-turns.ts";
import { createSimPool, type SimPool } from "./agents.ts";
import { startShippedPool } from "./shipped-pool.ts";
import { createSimChannels, type SimChannels } from "./platform.ts";
import { type Mortal, never, type World } from "./world.ts";
import { QUIET_OUTBOX } from "../../src/testing/worlds/quiet-outbox.ts";

export interface Life extends Mortal {
  readonly receiver: Receiver;
  readonly queue: Queue;
  readonly waitingMessages: WaitingMessages;
  readonly outbox: Outbox;
  readonly pool: SimPool;
  /** The store itself, for somebody who is not this process. */
  readonly store: Store;
  readonly recovered: { readonly waiting: number; readonly interrupted: number };
  /** In good order, as a signal would. */
  stop(): Promise<void>;
}

interface State extends Mortal {
  alive: boolean;
  /** Of its store, that have not come back. */
  calls: number;
}

const DRAIN_MS = 2_000;
/** For a write that has to be waited for once more. */
const SLACK_MS = 1_000;

/** Null: the start failed, as it does on a disk that cannot be read. `onDeath` is told once. */
export async function startLife(world: World, number: number, onDeath: () => void): Promise<Life | null> {
  const { facts, options } = world;
  let channels: SimChannels | null = null;
  const state: State = {
    number,
    alive: true,
    calls: 0,
    die(where) {
      if (!state.alive) return;
      end(world, state);
      world.database.killed(state);
      facts.counts.crashes++;
      facts.note(`life ${number} killed: ${where}`);
      noteDeath(world, number);
      channels?.cut();
      doubtWhatWasUnderway(world);
      onDeath();
    },
  };
  const clock = world.time.clockFor(() => state.alive);
  const log = listening(world, state);
  try {
    const opened = world.database.open({ clock, ids: world.ids, log }, state);
    const real = opened instanceof Promise ? await counted(world, state, opened) : opened;
    const store = mortalStore(world, state, real);
    const events = createEvents({ log });
    const queue = createQueue({ clock, ids: world.ids, log, store, workKind: () => "talk" }, () => ({
      ...options,
      channels: {},
    }));
    const stopping = new AbortController();
    channels = createSimChannels({ world, life: state, clock });
    const receiver = quietReceiver(
      { log, events, queue, channels: mapOf(channels), router: routerOf(world) },
      undefined,
      stopping.signal,
    );
    const live = createLiveTurns({ clock, events, queue });
    const lending = { world, life: state, clock, store, events };
    const pool = world.shippedPool ? await startShippedPool(lending) : createSimPool(lending);
    const { outbox, recovered, turns } = await begin();
    events.on("turn.ended", ({ turnId, outcome }) => facts.note(`ended ${turnId} ${outcome}`));
    const stop = async (): Promise<void> => {
      const from = clock.elapsed();
      stopping.abort(new Error("stopping"));
      await turns[Symbol.asyncDispose]();
      if (world.shippedPool) await pool[Symbol.asyncDispose]();
      using limit = clock.deadline(DRAIN_MS, () => new Error("not drained"));
      const drained = await outbox.drained(limit.signal).then(
        () => true,
        () => false, // what is left is the next process's
      );
      if (!drained && outbox.stats().pending === 0 && options.diskTroubles === 0)
        facts.wrong("nothing is left in the outbox, and a stop waits for it");
      await outbox[Symbol.asyncDispose]();
      const tookMs = clock.elapsed() - from;
      if (tookMs > options.graceMs + DRAIN_MS + SLACK_MS) facts.wrong(`a stop took ${tookMs} ms`);
      await counted(world, state, Promise.resolve(real[Symbol.asyncDispose]())).catch(() => undefined); // a stop goes on when the disk does not; the next start is told
      end(world, state);
      if (options.diskTroubles > 0) noteDeath(world, number); // turns whose end the disk did not take look as after a crash
      doubtWhatWasUnderway(world); // on a failing disk a part may have arrived and never been noted
    };
    const waitingMessages = createWaitingMessages({ events, queue, outbox });
    return Object.assign(state, { receiver, queue, waitingMessages, outbox, pool, store: real, recovered, stop });

    async function begin() {
      const recovered = await queue.recover();
      const outbox = startOutbox({
        clock,
        ids: world.ids,
        log,
        events,
        store: store.outbox,
        channels: mapOf(channels),
        ...QUIET_OUTBOX,
        tellOwner: async ({ part }) => void facts.ownerTold.add(part.id),
      });
      const deps = quietTurns({ clock, log, events, queue, pool, outbox, live, media: store.media });
      const turns = startTurns(deps, () => ({ timeoutMs: options.turnMs, graceMs: options.graceMs }));
      return { recovered, outbox, turns };
    }
  } catch (error) {
    facts.note(`start failed: ${error instanceof Error ? error.message : "?"}`);
    end(world, state);
    world.database.killed(state);
    return null;
  }
}

function noteDeath({ database, facts }: World, life: number): void {
  const atWork = database.rows<{ id: TurnId }>("select id from turns where state = 'running' and at_work = 1");
  for (const { id } of atWork)
    facts.deaths.set(id, [...(facts.deaths.get(id) ?? []), { life, alone: atWork.length === 1 }]);
}

const mapOf = (channels: SimChannels | null): SimChannels["channels"] => channels?.channels ?? new Map();

function routerOf({ facts }: World): Router {
  return {
    decide(message) {
      // told apart by their words, which the real one does not look at
      const saying = facts.sayings.find((one) => "text" in message && one.message.text === message.text);
      if (!saying) throw new Error("nobody said this");
      const { sessionKey, role, priority } = saying;
      return { kind: "accept", sessionKey, agentId: "default" as never, role, priority, because: [] };
    },
  };
}

/** Lines that must never be written, whatever goes wrong around us. */
const NEVER_SAID = ["turn fell apart", "outbox step failed"];

function listening({ facts }: World, state: { readonly alive: boolean }): Log {
  const log: Log = {
    ...silentLog,
    error(words, fields) {
      if (!state.alive || !NEVER_SAID.includes(words)) return;
      facts.wrong(`${words}: ${fields?.error instanceof Error ? fields.error.message : "?"}`);
    },
    child: () => log,
  };
  return log;
}

/** Parts that had begun to be sent, or had arrived without a note of it: nobody in the next process can know. */
function doubtWhatWasUnderway({ database, facts }: World): void {
  const open = database.rows<{ id: string; state: string }>("select id, state from outbox where ended_at is null");
  for (const { id, state } of open) {
    const current = facts.sendsOf(id, facts.delivered.get(id) ?? 0);
    if (state === "sending" || current.arrived > 0) current.doubtful++;
  }
}

/** Something of a life is under way, so no time passes. Call the function when it has come back; after a death it does nothing. */
function begin(world: World, state: State): () => void {
  world.calls++;
  state.calls++;
  return () => {
    if (!state.alive) return;
    world.calls--;
    state.calls--;
  };
}

/** Nobody waits for what this life has under way. */
function end(world: World, state: State): void {
  state.alive = false;
  world.calls -= state.calls;
  state.calls = 0;
}

async function counted<T>(world: World, state: State, work: Promise<T>): Promise<T> {
  const back = begin(world, state);
  try {
    return await work;
  } finally {
    back();
  }
}

/** Written with the next write, or a moment later (`soon` of src/store/group-commit.ts). */
const MAY_BE_LOST = ["outbox.markSent"];

type MessageIntake = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Every call may be the last one: killed before it was made, or after it was done and before anybody was told. */
function mortalStore(world: World, state: State, real: Store): Store {
  const chance = world.chance.fork(`crashes ${state.number}`);
  const call = async (name: string, run: () => Promise<unknown>, args: readonly unknown[]): Promise<unknown> => {
    if (!state.alive) return never();
    const killed = !world.calm && chance.hits(world.options.crashes) ? chance.pick(["before", "after"]) : null;
    if (killed === "before") {
      state.die(`before ${name}`);
      return never();
    }
    const back = world.database.gathers && MAY_BE_LOST.includes(name) ? () => undefined : begin(world, state);
    try {
      if (name === "turns.join" && !world.calm && chance.hits(world.options.joinFails))
        throw new Error("disk I/O error");
      const result = await run();
      observe(world, name, { args, result });
      if (killed === "after") state.die(`after ${name}`);
      return state.alive ? result : never();
    } catch (error) {
      if (!state.alive) return never();
      world.facts.counts.storeFailures++;
      world.facts.note(`${name} failed`);
      throw error;
    } finally {
      back();
    }
  };
  const door = <T extends object>(name: string, target: T): T =>
    new Proxy(target, {
      get:
        (_target, method: string) =>
        (...args: unknown[]) =>
          call(
            `${name}.${method}`,
            () => Reflect.apply((target as MessageIntake)[method] ?? never, target, args),
            args,
          ),
    });
  return {
    ...real,
    inbox: door("inbox", real.inbox),
    turns: door("turns", real.turns),
    sessions: door("sessions", real.sessions),
    outbox: door("outbox", real.outbox),
    toolCalls: door("toolCalls", real.toolCalls),
  };
}

function observe(
  { facts }: World,
  name: string,
  { args, result }: { args: readonly unknown[]; result: unknown },
): void {
  facts.note(`${name} ${name === "turns.begin" ? (args[0] as TurnFinish).turnId : ""}`);
  if (name !== "turns.finish") return;
  const end = args[0] as TurnFinish;
  facts.note(`finish ${end.turnId}.${end.attempt} ${end.outcome} ${end.error?.code ?? ""} ${result !== null}`);
  const run = facts.runs.findLast(({ turnId }) => turnId === end.turnId);
  if (result !== null && run) facts.settledBytes.set(run.sessionKey, end.settledBytes);
}
