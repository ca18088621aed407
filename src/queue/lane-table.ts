/** The state of all lanes and of the lines they wait in, and the few changes to it. Used by lanes.ts alone. */
import type { InboxId, SessionKey, TurnId } from "../contracts/ids.ts";
import type { QueueMode } from "../contracts/session-settings.ts";
import type { Moving } from "./lanes.ts";
import { createReadyLine, type ReadyLine } from "./ready-line.ts";
import { isExpired } from "./take-from.ts";
import { isSuspect, sizeOf, type Work } from "./work.ts";

export interface RunningTurn {
  readonly turnId: TurnId;
  readonly alone?: boolean;
  readonly stop: AbortController;
}

export interface Lane {
  readonly key: SessionKey;
  readonly waiting: Work[];
  running: Running | null;
  inLine: "talk" | "commands" | "suspects" | null;
  /** While it collects: when it goes on at the latest, and when it goes on if nothing more comes. */
  collecting: { readonly latestAt: number; dueAt: number; readonly collectMs: number } | null;
  /** Chosen for this session. */
  mode: QueueMode | null;
  /** Messages about which the store is just deciding. Nothing behind them may go first, so the lane stands still. */
  readonly held: Set<InboxId>;
}

interface Running {
  readonly turn: RunningTurn;
  /** Grows when something joins. */
  work: Work;
  /** Offered to the turn: nobody takes these back any more. */
  readonly offered: Set<InboxId>;
  /** Nothing more is offered. */
  closed: boolean;
}

export interface LaneTable {
  readonly lanes: Map<SessionKey, Lane>;
  readonly talk: ReadyLine<Lane>;
  /** Lanes whose head needs no agent: a command, or something that waited too long. */
  readonly commands: Lane[];
  /** Lanes whose head may be what brings the gateway down. They go before all others, and alone. */
  readonly suspects: Lane[];
  /** The suspect that runs now: nothing else begins beside it. */
  alone: Lane | null;
  readonly collecting: Set<Lane>;
  readonly counts: { waiting: number; overflow: number; running: number };
  /** Nothing in the talk line expires before this. */
  nextExpiryAt: number;
}

export function createLaneTable(): LaneTable {
  return {
    lanes: new Map(),
    talk: createReadyLine(),
    commands: [],
    suspects: [],
    alone: null,
    collecting: new Set(),
    counts: { waiting: 0, overflow: 0, running: 0 },
    nextExpiryAt: Infinity,
  };
}

export function openLane({ lanes }: LaneTable, key: SessionKey): Lane {
  const known = lanes.get(key);
  if (known) return known;
  const lane: Lane = { key, waiting: [], running: null, inLine: null, collecting: null, mode: null, held: new Set() };
  lanes.set(key, lane);
  return lane;
}

export function forgetIfEmpty(table: LaneTable, lane: Lane): void {
  if (lane.running || lane.waiting.length > 0 || lane.held.size > 0) return;
  leaveLine(table, lane);
  table.collecting.delete(lane);
  table.lanes.delete(lane.key);
}

export function countWork({ counts }: LaneTable, work: Work, sign: 1 | -1): void {
  const { messages, overflow } = sizeOf(work);
  counts.waiting += sign * messages;
  counts.overflow += sign * overflow;
}

export function queueUp(table: LaneTable, lane: Lane, now: number): void {
  const [head] = lane.waiting;
  if (!head || lane.running || lane.inLine || lane.collecting || lane.held.size > 0) return;
  lane.inLine = lineFor(head, now);
  if (lane.inLine === "suspects") return void table.suspects.push(lane);
  if (lane.inLine === "commands") return void table.commands.push(lane);
  table.talk.push(lane, head.priority, now);
  table.nextExpiryAt = Math.min(table.nextExpiryAt, expiryOf(head));
}

function lineFor(head: Work, now: number): NonNullable<Lane["inLine"]> {
  if (isSuspect(head)) return "suspects";
  return (head.alone && !head.errand) || isExpired(head, now) ? "commands" : "talk";
}

/** For a lane whose head has changed: it keeps its position, unless it belongs in another line now. */
export function moveToRightLine(table: LaneTable, lane: Lane, now: number): void {
  const [head] = lane.waiting;
  if (!lane.inLine || !head || lineFor(head, now) === lane.inLine) return;
  leaveLine(table, lane);
  queueUp(table, lane, now);
}

export function leaveLine({ talk, commands, suspects }: LaneTable, lane: Lane): void {
  if (lane.inLine === "suspects") suspects.splice(suspects.indexOf(lane), 1);
  if (lane.inLine === "talk") talk.remove(lane);
  if (lane.inLine === "commands") commands.splice(commands.indexOf(lane), 1);
  lane.inLine = null;
}

/** The least suspicious first: if the gateway goes down with another one, whoever was accused before is cleared. */
export function nextSuspect({ suspects, counts }: LaneTable): Lane | null {
  if (counts.running > 0) return null; // they get their turn when nothing else runs
  const crashesOf = ({ waiting: [head] }: Lane): number => head?.crashes ?? 0;
  const [first] = suspects.toSorted((one, other) => crashesOf(one) - crashesOf(other));
  if (first) suspects.splice(suspects.indexOf(first), 1);
  return first ?? null;
}

/** More has come into the lane. */
export function noteArrival(table: LaneTable, lane: Lane, now: number): void {
  if (lane.collecting) lane.collecting.dueAt = Math.min(now + lane.collecting.collectMs, lane.collecting.latestAt);
  queueUp(table, lane, now);
}

export function endCollecting(table: LaneTable, now: number): void {
  for (const lane of table.collecting) {
    if ((lane.collecting?.dueAt ?? 0) > now) continue;
    lane.collecting = null;
    table.collecting.delete(lane);
    queueUp(table, lane, now);
  }
}

/** What waited too long needs no agent, so it does not wait for one either. */
export function sweepExpired(table: LaneTable, now: number): void {
  if (now < table.nextExpiryAt) return;
  table.nextExpiryAt = Infinity;
  for (const lane of [...table.talk.all()]) {
    const [head] = lane.waiting;
    if (!head) continue;
    if (!isExpired(head, now)) {
      table.nextExpiryAt = Math.min(table.nextExpiryAt, expiryOf(head));
      continue;
    }
    leaveLine(table, lane);
    queueUp(table, lane, now);
  }
}

/** When there may be work without anything new arriving; Infinity when only something new can make some. */
export function soonest({ collecting, talk, nextExpiryAt }: LaneTable, sort: "talk" | "commands"): number {
  let dueAt = sort === "commands" && talk.size > 0 ? nextExpiryAt : Infinity;
  for (const lane of collecting) dueAt = Math.min(dueAt, lane.collecting?.dueAt ?? Infinity);
  return dueAt;
}

function expiryOf({ turnId, expiresAt = Infinity }: Work): number {
  return turnId === null ? expiresAt : Infinity;
}

/** Stands in the way of every turn, as a message does about which the store is deciding. */
export const MOVING = "moving" as InboxId;

function isMovable({ running, held, collecting, waiting }: Lane): boolean {
  return !running && held.size === 0 && !collecting && waiting.length > 0 && waiting.every(isUnbegun);
}

function isUnbegun(work: Work): boolean {
  return work.turnId === null && !isSuspect(work);
}

export function movableLanes({ lanes }: LaneTable) {
  const messagesIn = ({ waiting }: Lane): number =>
    waiting.map(sizeOf).reduce((sum, { messages, overflow }) => sum + messages + overflow, 0);
  return [...lanes.values()]
    .filter(isMovable)
    .map((lane) => ({ sessionKey: lane.key, waiting: messagesIn(lane) }))
    .toReversed();
}

export function moveLane(table: LaneTable, key: SessionKey): Moving | null {
  const lane = table.lanes.get(key);
  if (!lane || !isMovable(lane)) return null;
  lane.held.add(MOVING);
  leaveLine(table, lane);
  return {
    works: [...lane.waiting],
    letGo(now) {
      lane.held.delete(MOVING);
      queueUp(table, lane, now);
    },
    gone() {
      for (const work of lane.waiting.splice(0)) countWork(table, work, -1);
      lane.held.delete(MOVING);
      forgetIfEmpty(table, lane);
    },
  };
}
