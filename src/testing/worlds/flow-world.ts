/** The whole flow on a real store, from the receiver to the outbox, with agents that follow a script. */
import { createWebChat } from "../../channels/webchat/index.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { EventName, GatewayEvents } from "../../contracts/events.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import { startOutbox } from "../../delivery/index.ts";
import { createLiveTurns, createWaitingMessages, startTurns } from "../../flow/index.ts";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createEvents } from "../../observe/index.ts";
import { createQueue, type QueueDeps, type QueueSettings } from "../../queue/index.ts";
import { createRouter } from "../../routing/index.ts";
import { createFakeClock } from "../fake-clock.ts";
import { createFakePool, type FakeAgent, type FakePool } from "../fake-pool.ts";
import { inbound } from "../messages.ts";
import { type RealStore, realStore } from "../real-store.ts";
import { recordingLog } from "../recording-log.ts";
import { routingConfig } from "../routing-config.ts";
import { type QuietTurns, quietTurns } from "./quiet-turns.ts";
import { quietReceiver } from "./quiet-receiver.ts";
import { waitForEnd, WHOLE_WAIT_MS } from "../wait-for.ts";
import { QUIET_OUTBOX } from "./quiet-outbox.ts";

export const SESSION = "agent:default:webchat:dm:1" as SessionKey;
const never = new AbortController().signal;

export interface FlowOptions extends Partial<QueueSettings> {
  readonly store?: (real: Store) => Store;
  readonly timeoutMs?: number;
  readonly graceMs?: number;
  readonly workKind?: QueueDeps["workKind"];
  readonly canRefuse?: boolean;
  /** A store that an earlier flow left behind; it is not deleted with this one. */
  readonly on?: RealStore;
  /** What turns get besides, or instead. */
  readonly parts?: (made: { store: Store; clock: Clock; log: Log; pool: FakePool }) => Promise<Partial<QuietTurns>>;
}

export async function flow(agent: FakeAgent, options: FlowOptions = {}) {
  const { graceMs = 30_000 } = options;
  const clock = createFakeClock();
  const world = options.on ?? (await realStore(systemClock));
  const store = options.store?.(world.store) ?? world.store;
  const log = recordingLog();
  const events = createEvents({ log });
  const workKind = options.workKind ?? (() => "talk");
  const queue = createQueue({ clock, ids: systemIds, log, store, workKind }, () => ({
    maxPerSession: 50,
    maxTotal: 50,
    maxOverflow: 10,
    ttlMs: Infinity,
    mode: "followup",
    collectMs: 100,
    channels: {},
    ...options,
  }));
  const channels = new Map([
    ["webchat", { ...createWebChat({ events, clock, store }, "webchat"), canRefuse: options.canRefuse ?? true }],
  ]);
  const receiver = quietReceiver({ log, events, queue, channels, router: createRouter(() => routingConfig()) });
  const live = createLiveTurns({ clock, events, queue });
  const pool = createFakePool(agent);
  const outbox = startOutbox({ clock, ids: systemIds, log, events, store: store.outbox, channels, ...QUIET_OUTBOX });
  await queue.recover();
  const parts = await options.parts?.({ store, clock, log, pool });
  const turns = startTurns(
    quietTurns({ clock, log, events, queue, pool, outbox, live, media: store.media, ...parts }),
    () => ({
      timeoutMs: options.timeoutMs ?? 60_000,
      graceMs,
    }),
  );
  const seen: string[] = [];
  const next = <E extends EventName>(event: E, fits: (data: GatewayEvents[E]) => boolean = () => true) => {
    const happened = new Promise<GatewayEvents[E]>((resolve) => {
      const listening = events.on(event, (data) => {
        if (!fits(data)) return;
        listening[Symbol.dispose]();
        resolve(data);
      });
    });
    const waiting = waitForEnd(`the event ${event}`, happened, { withinMs: WHOLE_WAIT_MS });
    waiting.catch(() => undefined); // a test that does not ask for it is over
    return waiting;
  };
  events.on("turn.started", ({ attempt }) => seen.push(`started ${attempt}`));
  events.on("turn.delta", ({ text }) => seen.push(`delta ${text}`));
  events.on("turn.waiting", ({ text }) => seen.push(`waiting ${text}`));
  events.on("turn.tool", ({ tool, status }) => seen.push(`tool ${tool} ${status}`));
  events.on("turn.ended", ({ outcome }) => seen.push(`ended ${outcome}`));
  events.on("message", ({ item }) => seen.push(`${item.role} ${item.text}`));
  const ask = (text: string, about: Partial<InboundMessage> = {}) => receiver.receive(inbound(text, about), never);
  const replied = () => next("message", ({ item }) => item.role === "assistant");
  return {
    clock,
    store,
    log,
    events,
    queue,
    waitingMessages: createWaitingMessages({ events, queue, outbox }),
    live,
    pool,
    turns,
    seen,
    next,
    ask,
    replied,
    world,
    async [Symbol.asyncDispose]() {
      const stopped = turns[Symbol.asyncDispose]();
      // a turn that a failed test left running must not hide behind a time limit why it failed
      await clock.advance(graceMs);
      await pool[Symbol.asyncDispose]();
      await stopped;
      await outbox[Symbol.asyncDispose]();
      if (!options.on) await world[Symbol.asyncDispose]();
    },
  };
}
