/** Joins the durable inbox with the order of work in memory. Every acknowledged message is in the store first. */
import type {
  Accepted,
  Batch,
  BatchEntry,
  Cancelled,
  Queue,
  QueueEntry,
  Rewritten,
  StopCause,
  UnbegunReply,
  WorkKind,
} from "../contracts/queue.ts";
import type { InboxId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { BegunTurn } from "../contracts/store/turns.ts";
import type { NewInboxRow } from "../contracts/store/inbox.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { type Admission, createAdmission } from "./admission.ts";
import { AT_ONCE, type BatchWorld, beginTurn, createBatch, newTurn, NOT_BEGUN } from "./batch.ts";
import { createEarlyTurns, type EarlyTurn, type EarlyTurns } from "./early-turns.ts";
import { handOver } from "./hand-over.ts";
import { createLanes, type Held, type NextWork, type WantedLane } from "./lanes.ts";
import { createModes, type QueueSettings } from "./modes.ts";
import { adopt, recover } from "./left-work.ts";
import { kindFlags, type WorkKindOf } from "./recovery.ts";
import { separated } from "./take-from.ts";
import { overflowWork, shortened, type Work } from "./work.ts";

export interface QueueDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Pick<Store, "inbox" | "turns" | "sessions">;
  readonly workKind: WorkKindOf;
}

const STORE_RETRY_MS = 500;
/** Timers hold about 24 days; whoever waits for longer looks again. */
const MAX_LOOK_MS = 3_600_000;

/** `settings` is asked each time, so that a changed configuration holds from the next message on. */
export function createQueue(deps: QueueDeps, settings: () => QueueSettings): Queue {
  const world = createWorld(deps, settings);
  const { lanes, admission, modes, ring } = world;
  const left = { ...world, expiryOf: (receivedAt: number) => expiryOf(world, receivedAt) };
  return {
    recover: () => recover(left),
    adopt: (taken, signal) => adopt(left, taken, signal),
    accept(entry, id = deps.ids.next("msg") as InboxId) {
      const kind = deps.workKind(entry);
      return admission.admit(entry, kind, (as) => store(world, { entry, id, kind }, as));
    },
    take: (signal, room = 1, isOpen) => takeNext(world, { sort: "talk", room, isOpen }, signal),
    takeCommand: (signal) => takeNext(world, { sort: "commands", room: 0 }, signal),
    cancel: (id, by, end) => cancel(world, { id, by }, end),
    rewrite: (id, by, text) => rewrite(world, { id, by }, text),
    async choose(sessionKey, mode) {
      await deps.store.sessions.setQueueMode(sessionKey, mode);
      lanes.setMode(sessionKey, mode);
      ring(); // what waits may now be wanted in the running turn
    },
    abort: async (sessionKey) => stop(world, sessionKey, "stopped"),
    movable: lanes.movable,
    handOver: (sessionKey, give) => handOver(world, sessionKey, give),
    stats() {
      const { waiting, overflow, running } = lanes.stats();
      return { waiting: waiting + overflow, running };
    },
    isBusy(sessionKey) {
      const { messages, overflow } = lanes.waitingIn(sessionKey);
      return messages + overflow > 0 || lanes.running(sessionKey) !== null;
    },
    session(sessionKey, channel) {
      const { messages, overflow } = lanes.waitingIn(sessionKey);
      const chosen = lanes.mode(sessionKey) !== null;
      return { waiting: messages + overflow, mode: modes.modeIn(sessionKey, channel), chosen };
    },
  };
}

interface QueueWorld extends BatchWorld, QueueDeps {
  readonly store: QueueDeps["store"];
  readonly settings: () => QueueSettings;
  readonly admission: Admission;
  readonly modes: ReturnType<typeof createModes>;
  readonly early: EarlyTurns;
}

function createWorld(deps: QueueDeps, settings: () => QueueSettings): QueueWorld {
  const lanes = createLanes();
  const admission = createAdmission(lanes, settings);
  const modes = createModes(settings, lanes);
  let bell: Deferred<void> = deferred();
  const ring = (): void => {
    bell.resolve();
    bell = deferred();
  };
  const { paceOf, steers } = modes;
  return {
    ...deps,
    settings,
    lanes,
    admission,
    modes,
    early: createEarlyTurns({ ...deps, lanes, ring }),
    paceOf,
    steers,
    forget: admission.forget,
    ring,
    rung: () => bell.promise,
  };
}

/** On the monotonic clock, so that a change of the wall clock while it waits changes nothing. */
function expiryOf({ clock, settings }: QueueWorld, receivedAt: number): number {
  return clock.elapsed() + (receivedAt + settings().ttlMs - clock.now());
}

function stop({ lanes }: QueueWorld, key: SessionKey, cause: StopCause): boolean {
  const running = lanes.running(key);
  if (!running || running.alone) return false;
  running.stop.abort(cause);
  return true;
}

interface Arriving {
  readonly entry: QueueEntry;
  readonly id: InboxId;
  readonly kind: WorkKind;
}

async function store(world: QueueWorld, { entry, id, kind }: Arriving, as: "work" | "overflow"): Promise<Accepted> {
  const { lanes, modes, settings, admission } = world;
  const { whenFull: _whenFull, ...row } = entry;
  const overflow = as === "overflow" ? { overflow: { maxShown: settings().maxOverflow } } : {};
  const { sessionKey } = entry;
  const isNext = as === "work" && kind === "talk" && admission.arriving(sessionKey) === 1; // nothing is stored before it
  const early = isNext ? world.early.reserve(sessionKey, id) : null;
  const stored = await storeRow(world, { ...row, id, ...overflow }, early);
  if (stored.kind === "duplicate") return stored;
  const begun = early && stored.begun;
  const position = begun
    ? beginWork(world, workOf(world, row, { id, kind }), begun, early)
    : addToLane(world, row, as, { id, kind, hidden: stored.hidden });
  lanes.setMode(sessionKey, stored.mode);
  if (begun) return { kind: "queued", id, position };
  if (kind === "stop") stop(world, sessionKey, "stopped");
  const byPerson = (entry.message.origin ?? "chat") === "chat";
  const interrupts = kind === "talk" && byPerson && !entry.message.steer;
  if (interrupts && modes.modeIn(sessionKey, entry.message.address.channel) === "interrupt")
    stop(world, sessionKey, "interrupted");
  world.ring();
  return { kind: "queued", id, position };
}

/** `early`: its turn begins with it, if it can; if not, the lane is free again. */
async function storeRow({ store: { inbox }, clock }: QueueWorld, row: NewInboxRow, early: EarlyTurn | null) {
  if (!early) return inbox.accept(row);
  let begun = false;
  try {
    const stored = await inbox.accept({ ...row, begins: { turnId: early.running.turnId, at: clock.now() } });
    begun = stored.kind === "stored" && stored.begun !== null;
    return stored;
  } finally {
    if (!begun) early.drop();
  }
}

/** Nothing is answered before it. */
function beginWork({ admission }: QueueWorld, work: Work, begun: BegunTurn, early: EarlyTurn): 0 {
  admission.remember(work);
  early.begin(work, begun);
  return 0;
}

type Row = Omit<QueueEntry, "whenFull">;

interface Stored {
  readonly id: InboxId;
  readonly kind: WorkKind;
  readonly hidden: InboxId | null;
}

/** How many are answered before it. */
function addToLane(world: QueueWorld, row: Row, as: "work" | "overflow", stored: Stored): number {
  return as === "work" ? addWork(world, row, stored) : addOverflow(world, row, stored);
}

function addWork(world: QueueWorld, row: Row, { id, kind }: { readonly id: InboxId; readonly kind: WorkKind }): number {
  const { lanes, admission, clock } = world;
  const running = lanes.running(row.sessionKey) !== null;
  const next = kind === "stop" && running; // an idle lane is in line for the work it has
  const position = (next ? 0 : lanes.waitingIn(row.sessionKey).messages) + (running ? 1 : 0);
  const work = workOf(world, row, { id, kind });
  admission.remember(work);
  lanes.add(work, next ? "head" : "end", clock.elapsed());
  return position;
}

function workOf(
  world: QueueWorld,
  { message, ...about }: Row,
  { id, kind }: { readonly id: InboxId; readonly kind: WorkKind },
): Work {
  return {
    ...about,
    entries: [{ id, message }],
    turnId: null,
    ...kindFlags(kind),
    steer: message.steer ?? false,
    expiresAt: expiryOf(world, message.receivedAt),
  };
}

function addOverflow(world: QueueWorld, row: Row, { id, kind, hidden }: Stored): number {
  const { lanes, clock } = world;
  const { message, ...about } = row;
  const entry: BatchEntry = { id, ...shortened(message, kind !== "talk") };
  const position = lanes.waitingIn(row.sessionKey).messages + (lanes.running(row.sessionKey) ? 1 : 0);
  const work = overflowWork({ ...about, expiresAt: expiryOf(world, message.receivedAt) }, entry);
  lanes.addOverflow(work, hidden, clock.elapsed());
  return position;
}

interface Asked {
  readonly id: InboxId;
  readonly by: Principal;
}

type Holding =
  | { readonly kind: "held"; readonly held: Held; readonly first: BatchEntry }
  | { readonly kind: "unknown" | "not_waiting" };

/** Held where it is for now, if it is this sender's and still waits. */
async function holdBack(world: QueueWorld, { id, by }: Asked): Promise<Holding> {
  const { lanes } = world;
  if ((await world.store.inbox.senderOf(id)) !== by) return { kind: "unknown" };
  const held = lanes.hold(id);
  const first = held?.work.entries[0];
  return held && first ? { kind: "held", held, first } : { kind: "not_waiting" };
}

async function cancel(world: QueueWorld, asked: Asked, end: UnbegunReply): Promise<Cancelled> {
  const { clock } = world;
  const holding = await holdBack(world, asked);
  if (holding.kind !== "held") return holding;
  const { id } = asked;
  const { held, first } = holding;
  const { sessionKey, agentId } = held.work;
  const turnId = world.ids.next("turn") as TurnId;
  const { address: to } = first.message;
  try {
    const ended = await world.store.turns.endUnbegun({
      turnId,
      sessionKey,
      agentId,
      inboxIds: [id],
      to,
      at: clock.now(),
      ...end,
    });
    held.gone(clock.elapsed());
    if (!ended) return { kind: "not_waiting" };
  } catch (error) {
    held.letGo(clock.elapsed());
    throw error;
  } finally {
    world.ring();
  }
  world.forget(held.work);
  return { kind: "cancelled", turnId, sessionKey };
}

/** Held back while it is stored, so that no turn begins with words that are about to change. */
async function rewrite(world: QueueWorld, asked: Asked, text: string): Promise<Rewritten> {
  const { clock } = world;
  const holding = await holdBack(world, asked);
  if (holding.kind !== "held") return holding;
  const { id } = asked;
  const { held, first } = holding;
  const { sessionKey, role, agentId } = held.work;
  const message = { ...first.message, text };
  const kindOf = (one: typeof message) => world.workKind({ message: one, role, agentId });
  let changed = false;
  try {
    if (kindOf(first.message) !== "talk" || kindOf(message) !== "talk") return { kind: "command" };
    const at = clock.now();
    changed = await world.store.inbox.rewrite(id, text, at);
    return changed ? { kind: "rewritten", sessionKey, message, at } : { kind: "not_waiting" };
  } finally {
    held.letGo(clock.elapsed(), changed ? message : undefined);
    world.ring();
  }
}

interface WantedWork extends WantedLane {
  /** How many turns the taker could take by now. */
  readonly room: number;
}

async function takeNext(world: QueueWorld, wanted: WantedWork, signal: AbortSignal): Promise<Batch> {
  const { sort, room } = wanted;
  const { lanes, clock, ids } = world;
  for (;;) {
    const early = sort === "talk" ? world.early.shift() : null;
    if (early) return createBatch(world, early.work, early.running, early.begun);
    signal.throwIfAborted();
    const rung = world.rung();
    const isFull = sort === "talk" && world.early.promised() >= room;
    const next: NextWork = isFull
      ? { kind: "none" }
      : lanes.next(clock.elapsed(), world.paceOf, (work) => newTurn(ids, work), wanted);
    if (next.kind !== "work") {
      using _waits = world.early.waits(room, signal);
      await rungOrDue(clock, rung, next, signal);
      continue;
    }
    const { work, running } = next;
    const begun = work.expired ? NOT_BEGUN : await beginTurn(world, work, running);
    if (begun) return createBatch(world, work, running, begun);
    const stopped = running.stop.signal.aborted;
    // nothing was written: they wait for the store to recover
    for (const one of separated(work).toReversed()) lanes.add({ ...one, stopped }, "head", clock.elapsed());
    lanes.release(work.sessionKey, clock.elapsed(), AT_ONCE);
    world.ring(); // who takes what needs no agent has to know when it expires
    await clock.sleep(STORE_RETRY_MS, signal);
  }
}

/** Until something new arrives, or a lane has collected long enough, or has waited too long. */
async function rungOrDue(
  clock: Clock,
  rung: Promise<void>,
  next: Exclude<NextWork, { kind: "work" }>,
  signal: AbortSignal,
): Promise<void> {
  if (next.kind === "none") return orAborted(rung, signal);
  const either = new AbortController();
  const due = clock.sleep(Math.min(next.inMs, MAX_LOOK_MS), AbortSignal.any([signal, either.signal]));
  try {
    await Promise.race([due, orAborted(rung, signal)]);
  } finally {
    either.abort(new Error("no longer waiting"));
    due.catch(() => undefined); // ended by us
  }
}
