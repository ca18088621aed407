/**
 * The order of work, in memory. A lane is one session:
 *   empty ──add──▶ ready ──take──▶ running ──release──▶ collecting (more may come) ──▶ ready, or empty
 * Ready lanes wait in line behind others of their priority, so a busy session cannot starve a quiet one. The store is the truth; this is its index.
 */
import type { BatchEntry } from "../contracts/queue.ts";
import type { AgentId, Role, SessionKey, TurnId } from "../contracts/ids.ts";

export interface Work {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly entries: readonly BatchEntry[];
  /** Set when an earlier attempt exists: the turn goes on under its old id. */
  readonly turnId: TurnId | null;
  /** A command: never joined with anything, taken by whoever takes commands. */
  readonly alone?: boolean;
  /** A command that needs an agent: never joined, but taken by whoever takes talk. */
  readonly errand?: boolean;
  /** It was stopped before it could begin again. */
  readonly stopped?: boolean;
}

export interface RunningTurn {
  readonly turnId: TurnId;
  readonly alone?: boolean;
  readonly stop: AbortController;
}

/** How a lane that has been busy goes on. `collectMs` 0: message by message. */
export interface Pace {
  readonly collect: boolean;
  readonly collectMs: number;
}

interface Lane {
  readonly key: SessionKey;
  readonly waiting: Work[];
  running: RunningTurn | null;
  inLine: boolean;
  /** While it collects: when it goes on at the latest, and when it goes on if nothing more comes. */
  collecting: { readonly latestAt: number; dueAt: number; readonly collectMs: number } | null;
}

export interface Lanes {
  /** Puts work at the end of its lane, or at its head when it is a turn that has to be tried again. */
  add(work: Work, where: "end" | "head", now: number): void;
  /** Takes the next work of its sort and closes its lane, or says how long until a collecting lane is ready (null: none is). */
  next(
    now: number,
    pace: (work: Work) => Pace,
    turn: (work: Work) => RunningTurn,
    sort?: "talk" | "commands",
  ): NextWork;
  /** Opens the lane again. With more waiting, it first collects what may still come. */
  release(key: SessionKey, now: number, pace: Pace): void;
  running(key: SessionKey): RunningTurn | null;
  waitingIn(key: SessionKey): number;
  stats(): { readonly waiting: number; readonly running: number; readonly lanes: number };
}

export type NextWork =
  | { readonly kind: "work"; readonly work: Work; readonly running: RunningTurn }
  | { readonly kind: "later"; readonly inMs: number }
  | { readonly kind: "none" };

/** However much keeps coming, a session is not kept waiting longer than this many quiet times. */
const MAX_COLLECTS = 5;
/** One turn takes at most this many messages; the rest is the next turn's. */
const MAX_BATCH_MESSAGES = 50;

export function createLanes(): Lanes {
  const lanes = new Map<SessionKey, Lane>();
  const lines = new Map<number, Lane[]>(); // priority → lanes in the order they became ready
  const commandLine: Lane[] = []; // lanes whose head is a command
  const collecting = new Set<Lane>();
  let waiting = 0;
  let running = 0;

  const queueUp = (lane: Lane): void => {
    const head = lane.waiting[0];
    if (!head || lane.running || lane.inLine || lane.collecting) return;
    lane.inLine = true;
    if (head.alone && !head.errand) return void commandLine.push(lane);
    const line = lines.get(head.priority) ?? [];
    line.push(lane);
    lines.set(head.priority, line);
  };

  const endCollecting = (lane: Lane): void => {
    lane.collecting = null;
    collecting.delete(lane);
    queueUp(lane);
  };

  return {
    add(work, where, now) {
      const lane = lanes.get(work.sessionKey) ?? newLane(work.sessionKey);
      lanes.set(work.sessionKey, lane);
      if (where === "head") lane.waiting.unshift(work);
      else lane.waiting.push(work);
      waiting += work.entries.length;
      if (lane.collecting) lane.collecting.dueAt = Math.min(now + lane.collecting.collectMs, lane.collecting.latestAt);
      queueUp(lane);
    },
    next(now, pace, turn, sort = "talk") {
      for (const lane of collecting) if ((lane.collecting?.dueAt ?? 0) <= now) endCollecting(lane);
      const lane = sort === "commands" ? (commandLine.shift() ?? null) : firstInLine(lines);
      if (!lane) return soonest(collecting, now);
      lane.inLine = false;
      const work = takeFrom(lane.waiting, pace);
      waiting -= work.entries.length;
      running++;
      lane.running = turn(work);
      return { kind: "work", work, running: lane.running };
    },
    release(key, now, { collect, collectMs }) {
      const lane = lanes.get(key);
      if (!lane?.running) return;
      lane.running = null;
      running--;
      const [head] = lane.waiting;
      if (collect && collectMs > 0 && head?.turnId === null && !head.alone) {
        lane.collecting = { dueAt: now + collectMs, latestAt: now + MAX_COLLECTS * collectMs, collectMs };
        collecting.add(lane);
      }
      queueUp(lane);
      if (lane.waiting.length === 0) lanes.delete(key);
    },
    running: (key) => lanes.get(key)?.running ?? null,
    waitingIn: (key) => (lanes.get(key)?.waiting ?? []).reduce((sum, work) => sum + work.entries.length, 0),
    stats: () => ({ waiting, running, lanes: lanes.size }),
  };
}

/** The lane that has waited longest among those of the highest priority; it leaves the line. */
function firstInLine(lines: Map<number, Lane[]>): Lane | null {
  for (const priority of [...lines.keys()].toSorted((one, other) => other - one)) {
    const line = lines.get(priority) ?? [];
    const lane = line.shift();
    if (line.length === 0) lines.delete(priority);
    if (lane) return lane;
  }
  return null;
}

function newLane(key: SessionKey): Lane {
  return { key, waiting: [], running: null, inLine: false, collecting: null };
}

/** The head of a lane, joined with what waits behind it when the session collects and the same person speaks. A retry stays as it was. */
function takeFrom(waiting: Work[], pace: (work: Work) => Pace): Work {
  const head = waiting.shift();
  if (!head) throw new Error("an empty lane was in line");
  if (head.turnId !== null || head.alone || !pace(head).collect) return head;
  const entries = [...head.entries];
  for (let next = waiting[0]; next && joins(head, next) && entries.length < MAX_BATCH_MESSAGES; next = waiting[0]) {
    entries.push(...next.entries);
    waiting.shift();
  }
  return { ...head, entries };
}

/** One answer goes to one chat: only what the same person said in the same place is joined. */
function joins(head: Work, next: Work): boolean {
  if (next.turnId !== null || next.alone) return false;
  return next.agentId === head.agentId && next.role === head.role && place(next) === place(head);
}

function place({ entries: [first] }: Work): string {
  if (!first) return "";
  const { address, sender } = first.message;
  return JSON.stringify([sender.principal, address.channel, address.account, address.chat, address.thread ?? null]);
}

function soonest(collecting: ReadonlySet<Lane>, now: number): NextWork {
  let inMs = Infinity;
  for (const lane of collecting) inMs = Math.min(inMs, (lane.collecting?.dueAt ?? now) - now);
  return inMs === Infinity ? { kind: "none" } : { kind: "later", inMs };
}
