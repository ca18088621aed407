/**
 * The order of work, in memory. A lane is one session:
 *   empty ──add──▶ ready ──take──▶ running ──release──▶ collecting (more may come) ──▶ ready, or empty
 * While it runs, what waits may be offered to the running turn, and joins it or stays. Ready lanes wait in line behind others of their
 * priority, so a busy session cannot starve a quiet one. An empty lane is forgotten. The store is the truth; this is its index.
 */
import type { InboundMessage } from "../contracts/chat.ts";
import type { InboxId, SessionKey } from "../contracts/ids.ts";
import type { BatchEntry } from "../contracts/queue.ts";
import type { QueueMode } from "../contracts/session-settings.ts";
import type { TakenMessage } from "../contracts/store/nodes.ts";
import * as moves from "./lane-table.ts";
import type { Lane, LaneTable, RunningTurn } from "./lane-table.ts";
import { steerable, takeFrom } from "./take-from.ts";
import { isOverflow, isSuspect, mergeOverflow, chatOf, sizeOf, type Work } from "./work.ts";

/** How a lane that has been busy goes on. `collectMs` 0: message by message. */
export interface Pace {
  readonly collect: boolean;
  readonly collectMs: number;
}

export interface Lanes {
  /** Puts work at the end of its lane, or at its head when it is a turn that has to be tried again. */
  add(work: Work, where: "end" | "head", now: number): void;
  /** Puts overflow behind everything, together with other overflow of its chat. `hidden` is only counted from now on. */
  addOverflow(work: Work, hidden: InboxId | null, now: number): void;
  /** Takes the next work of its sort and closes its lane, or says how long until there may be some. */
  next(now: number, pace: (work: Work) => Pace, turn: (work: Work) => RunningTurn, wanted?: WantedLane): NextWork;
  /** Keeps an idle lane for a message that is just being stored, to begin its turn at once; null: the message has to wait. */
  reserve(key: SessionKey, id: InboxId): Reservation | null;
  /** Opens the lane again. With more waiting, it first collects what may still come. */
  release(key: SessionKey, now: number, pace: Pace): void;
  running(key: SessionKey): RunningTurn | null;
  /** What the running turn may be told that it was not offered before. */
  offer(key: SessionKey, wanted: (work: Work) => boolean): readonly BatchEntry[];
  /** Offered messages are part of the running turn now; the work as it has grown, or null when none runs. */
  join(key: SessionKey, ids: readonly InboxId[]): Work | null;
  /** What was offered waits for the next turn, and nothing more is offered to this one. */
  decline(key: SessionKey): void;
  /** Older messages of these sessions are about to come: nothing of them begins before. */
  expect(messages: readonly Pick<TakenMessage, "id" | "sessionKey">[]): Expected;
  /** Keeps a waiting message where it is, and its lane with it, until it is decided; null when it can no longer be withdrawn. */
  hold(id: InboxId): Held | null;
  /** Sessions that wait, and could go on elsewhere: nothing of them runs, has begun or is being decided. Those that came last are first. */
  movable(): readonly { readonly sessionKey: SessionKey; readonly waiting: number }[];
  /** Stands still, with all that waits in it, until it is decided; null: it cannot be moved. */
  move(key: SessionKey): Moving | null;
  mode(key: SessionKey): QueueMode | null;
  /** A lane that does not exist costs nothing and remembers nothing; the next message brings its mode along. */
  setMode(key: SessionKey, mode: QueueMode | null): void;
  waitingIn(key: SessionKey): { readonly messages: number; readonly overflow: number };
  stats(): { readonly waiting: number; readonly overflow: number; readonly running: number; readonly lanes: number };
}

export interface WantedLane {
  readonly sort: "talk" | "commands";
  /** The session is open in an idle process. */
  readonly isOpen?: ((key: SessionKey) => boolean) | undefined;
}

export type NextWork =
  | { readonly kind: "work"; readonly work: Work; readonly running: RunningTurn }
  | { readonly kind: "later"; readonly inMs: number }
  | { readonly kind: "none" };

interface Expected {
  /** All that comes, in order, before everything that waits. Each session goes on. */
  come(all: readonly Work[], now: number): void;
}

export interface Held {
  /** The message as a work of its own. */
  readonly work: Work;
  /** It goes on waiting, with these words if it has others now. */
  letGo(now: number, message?: InboundMessage): void;
  /** It is over; what stands behind it goes on. */
  gone(now: number): void;
}

export interface Moving {
  readonly works: readonly Work[];
  /** It goes on here. */
  letGo(now: number): void;
  /** It is somebody else's. */
  gone(): void;
}

/** Counts as a running turn. What is added to the lane meanwhile waits behind it. */
export interface Reservation {
  begin(work: Work, turn: RunningTurn): void;
  drop(now: number): void;
}

/** However much keeps coming, a session is not kept waiting longer than this many quiet times. */
const MAX_COLLECTS = 5;
/** One turn is told at most this much while it runs; the rest is the next turn's. */
const MAX_JOINED = 200;

export function createLanes(): Lanes {
  const table = moves.createLaneTable();
  const lane = (key: SessionKey): Lane | undefined => table.lanes.get(key);
  return {
    add(work, where, now) {
      const into = moves.openLane(table, work.sessionKey);
      if (where === "head") putFirst(into.waiting, work);
      else into.waiting.push(work);
      moves.countWork(table, work, 1);
      moves.noteArrival(table, into, now);
    },
    addOverflow: (work, hidden, now) => addOverflow(table, work, hidden, now),
    next(now, pace, turn, wanted = { sort: "talk" }) {
      moves.endCollecting(table, now);
      moves.sweepExpired(table, now);
      const found = nextLane(table, now, wanted);
      if (found === "not now") return { kind: "none" };
      if (!found) return later(moves.soonest(table, wanted.sort), now);
      found.inLine = null;
      const work = takeFrom(found.waiting, now, pace);
      moves.countWork(table, work, -1);
      table.counts.running++;
      const running = turn(work);
      found.running = runningOf(work, running);
      return { kind: "work", work, running };
    },
    reserve: (key, id) => reserve(table, key, id),
    release(key, now, pace) {
      const freed = lane(key);
      if (!freed?.running) return;
      freed.running = null;
      table.counts.running--;
      if (table.alone === freed) table.alone = null;
      collectFirst(table, freed, now, pace);
      moves.queueUp(table, freed, now);
      moves.forgetIfEmpty(table, freed);
    },
    running: (key) => lane(key)?.running?.turn ?? null,
    offer: (key, wanted) => offer(lane(key), wanted),
    join: (key, ids) => join(table, lane(key), ids),
    decline(key) {
      const running = lane(key)?.running;
      if (!running) return;
      running.closed = true;
      running.offered.clear();
    },
    expect: (messages) => expectMore(table, messages),
    hold: (id) => hold(table, id),
    movable: () => moves.movableLanes(table),
    move: (key) => moves.moveLane(table, key),
    mode: (key) => lane(key)?.mode ?? null,
    setMode(key, mode) {
      const chosen = lane(key);
      if (chosen) chosen.mode = mode;
    },
    waitingIn: (key) => added((lane(key)?.waiting ?? []).map(sizeOf)),
    stats: () => ({ ...table.counts, lanes: table.lanes.size }),
  };
}

function runningOf(work: Work, turn: RunningTurn): NonNullable<Lane["running"]> {
  const closed = work.alone === true || work.expired === true || isSuspect(work); // nobody else's words go down with it
  return { turn, work, offered: new Set(), closed };
}

function reserve(table: LaneTable, key: SessionKey, id: InboxId): Reservation | null {
  if (table.lanes.has(key) || table.alone || table.suspects.length > 0) return null; // a lane that is known is not idle
  const lane = moves.openLane(table, key);
  lane.held.add(id);
  table.counts.running++;
  return {
    begin(work, turn) {
      lane.held.delete(id);
      lane.running = runningOf(work, turn);
    },
    drop(now) {
      lane.held.delete(id);
      table.counts.running--;
      moves.queueUp(table, lane, now);
      moves.forgetIfEmpty(table, lane);
    },
  };
}

/** "not now": a suspect runs, or waits until what runs has ended. Its end rings. */
function nextLane(table: LaneTable, now: number, { sort, isOpen }: WantedLane): Lane | null | "not now" {
  if (table.alone) return "not now";
  if (table.suspects.length > 0) {
    table.alone = sort === "talk" ? moves.nextSuspect(table) : null;
    return table.alone ?? "not now";
  }
  if (sort === "commands") return table.commands.shift() ?? null;
  return table.talk.shift(now, isOpen && (({ key }) => isOpen(key)));
}

function later(dueAt: number, now: number): NextWork {
  return dueAt === Infinity ? { kind: "none" } : { kind: "later", inMs: Math.max(0, dueAt - now) };
}

function added(sizes: readonly { readonly messages: number; readonly overflow: number }[]) {
  const sum = { messages: 0, overflow: 0 };
  for (const { messages, overflow } of sizes) {
    sum.messages += messages;
    sum.overflow += overflow;
  }
  return sum;
}

function collectFirst(table: LaneTable, lane: Lane, now: number, { collect, collectMs }: Pace): void {
  const [head] = lane.waiting;
  if (!collect || collectMs <= 0 || head?.turnId !== null || head.alone) return;
  lane.collecting = { dueAt: now + collectMs, latestAt: now + MAX_COLLECTS * collectMs, collectMs };
  table.collecting.add(lane);
}

/** Only overflow at the very end is added to: what was accepted after some overflow is not overtaken by more of it. */
function addOverflow(table: LaneTable, work: Work, hidden: InboxId | null, now: number): void {
  const lane = moves.openLane(table, work.sessionKey);
  const { waiting } = lane;
  const tail = waiting.findLastIndex((one) => !one.overflow || one.turnId !== null) + 1;
  const at = waiting.findIndex((one, index) => index >= tail && mergeOverflow(one, work) !== null);
  const known = waiting[at];
  if (known) waiting[at] = mergeOverflow(known, work) ?? known;
  else waiting.push(work);
  moves.countWork(table, work, 1);
  if (hidden) hide(waiting, hidden);
  moves.moveToRightLine(table, lane, now); // overflow that grows is younger than it was
  moves.noteArrival(table, lane, now);
}

/** It stays counted. When it was the last one shown of its work, the count moves on to the next overflow of the same chat. */
function hide(waiting: Work[], id: InboxId): void {
  const at = waiting.findIndex((one) => one.overflow && one.entries.some((entry) => entry.id === id));
  const work = waiting[at];
  if (!work?.overflow) return; // its turn is just beginning
  const entries = work.entries.filter((entry) => entry.id !== id);
  const hidden = work.overflow.hidden + 1;
  if (entries.length > 0) {
    waiting[at] = { ...work, entries, overflow: { ...work.overflow, hidden } };
    return;
  }
  const heir = waiting.findIndex((one, index) => index > at && one.overflow && chatOf(one) === chatOf(work));
  const next = waiting[heir];
  if (!next?.overflow) return;
  waiting[heir] = { ...next, overflow: { ...next.overflow, hidden: next.overflow.hidden + hidden } };
  waiting.splice(at, 1);
}

function offer(lane: Lane | undefined, wanted: (work: Work) => boolean): readonly BatchEntry[] {
  const running = lane?.running;
  if (!lane || !running || running.closed || lane.held.size > 0 || running.turn.stop.signal.aborted) return [];
  const room = MAX_JOINED - running.work.entries.length - running.offered.size;
  const count = steerable(lane.waiting, running.work, wanted);
  const entries = lane.waiting.slice(0, count).flatMap((work) => work.entries);
  const fresh = entries.filter(({ id }) => !running.offered.has(id)).slice(0, Math.max(0, room));
  for (const { id } of fresh) running.offered.add(id);
  return fresh;
}

function join(table: LaneTable, lane: Lane | undefined, ids: readonly InboxId[]): Work | null {
  if (!lane?.running) return null;
  const { running } = lane;
  for (const id of ids) {
    const at = lane.waiting.findIndex((work) => work.entries.some((entry) => entry.id === id));
    const found = at < 0 ? null : takeEntry(lane.waiting, at, id);
    if (!found) continue;
    moves.countWork(table, found, -1);
    running.offered.delete(id);
    running.work = { ...running.work, entries: [...running.work.entries, ...found.entries] };
  }
  return running.work;
}

/** The entry as a work of its own; what was joined with it stays. */
function takeEntry(waiting: Work[], at: number, id: InboxId): Work | null {
  const work = waiting[at];
  if (!work) return null;
  const entries = work.entries.filter((entry) => entry.id !== id);
  if (entries.length > 0) waiting[at] = { ...work, entries };
  else waiting.splice(at, 1);
  return { ...work, entries: work.entries.filter((entry) => entry.id === id) };
}

/** A turn that had begun goes before all others: until it has ended, no other can begin in its session. */
function putFirst(waiting: Work[], work: Work): void {
  const begun = work.turnId === null ? waiting.findIndex(({ turnId }) => turnId === null) : 0;
  waiting.splice(begun < 0 ? waiting.length : begun, 0, work);
}

/** Overflow is put together with what is next in line of its chat's overflow, and keeps its place before what was accepted after it. */
function comeFirst(waiting: Work[], work: Work): void {
  const at = isOverflow(work) ? waiting.findIndex(({ turnId }) => turnId === null) : -1;
  const next = waiting[at];
  const merged = next && mergeOverflow(work, next);
  if (merged) waiting[at] = merged;
  else putFirst(waiting, work);
}

function expectMore(table: LaneTable, messages: readonly Pick<TakenMessage, "id" | "sessionKey">[]): Expected {
  for (const { id, sessionKey } of messages) {
    const lane = moves.openLane(table, sessionKey);
    lane.held.add(id);
    moves.leaveLine(table, lane);
  }
  return {
    come(all, now) {
      for (const work of all.toReversed()) {
        comeFirst(moves.openLane(table, work.sessionKey).waiting, work);
        moves.countWork(table, work, 1);
      }
      for (const { id, sessionKey } of messages) {
        const lane = moves.openLane(table, sessionKey);
        lane.held.delete(id);
        moves.queueUp(table, lane, now);
        moves.forgetIfEmpty(table, lane);
      }
    },
  };
}

function hold(table: LaneTable, id: InboxId): Held | null {
  const isIt = ({ turnId, overflow, entries }: Work): boolean =>
    turnId === null && !overflow && entries.some((entry) => entry.id === id);
  for (const lane of table.lanes.values()) {
    const work = lane.waiting.find(isIt);
    if (!work || lane.held.has(id) || lane.held.has(moves.MOVING) || lane.running?.offered.has(id)) continue;
    lane.held.add(id);
    moves.leaveLine(table, lane);
    const goOn = (now: number): void => {
      lane.held.delete(id);
      moves.queueUp(table, lane, now);
      moves.forgetIfEmpty(table, lane);
    };
    return {
      work: { ...work, entries: work.entries.filter((entry) => entry.id === id) },
      letGo(now, message) {
        const at = lane.waiting.findIndex(isIt);
        const known = lane.waiting[at];
        if (known && message) lane.waiting[at] = withText(known, id, message);
        goOn(now);
      },
      gone(now) {
        const over = takeEntry(lane.waiting, lane.waiting.findIndex(isIt), id);
        if (over) moves.countWork(table, over, -1);
        goOn(now);
      },
    };
  }
  return null;
}

function withText(work: Work, id: InboxId, message: InboundMessage): Work {
  return { ...work, entries: work.entries.map((entry) => (entry.id === id ? { ...entry, message } : entry)) };
}
