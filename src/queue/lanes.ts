/**
 * The order of work, in memory. A lane is one session:  empty ──add──▶ ready ──take──▶ running ──release──▶ ready or empty.
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
}

export interface RunningTurn {
  readonly turnId: TurnId;
  readonly stop: AbortController;
}

interface Lane {
  readonly key: SessionKey;
  readonly waiting: Work[];
  running: RunningTurn | null;
  inLine: boolean;
}

export interface Lanes {
  /** Puts work at the end of its lane, or at its head when it is a turn that has to be tried again. */
  add(work: Work, where: "end" | "head"): void;
  /** Takes the next work and closes its lane, or null when no lane is ready. */
  next(turn: (work: Work) => RunningTurn): { readonly work: Work; readonly running: RunningTurn } | null;
  /** Opens the lane again. */
  release(key: SessionKey): void;
  running(key: SessionKey): RunningTurn | null;
  waitingIn(key: SessionKey): number;
  stats(): { readonly waiting: number; readonly running: number; readonly lanes: number };
}

export function createLanes(): Lanes {
  const lanes = new Map<SessionKey, Lane>();
  const lines = new Map<number, Lane[]>(); // priority → lanes in the order they became ready
  let waiting = 0;
  let running = 0;

  const queueUp = (lane: Lane): void => {
    const head = lane.waiting[0];
    if (!head || lane.running || lane.inLine) return;
    lane.inLine = true;
    const line = lines.get(head.priority) ?? [];
    line.push(lane);
    lines.set(head.priority, line);
  };

  const nextLane = (): Lane | null => {
    const priorities = [...lines.keys()].toSorted((one, other) => other - one);
    for (const priority of priorities) {
      const line = lines.get(priority) ?? [];
      const lane = line.shift();
      if (line.length === 0) lines.delete(priority);
      if (lane) return lane;
    }
    return null;
  };

  return {
    add(work, where) {
      const lane = lanes.get(work.sessionKey) ?? { key: work.sessionKey, waiting: [], running: null, inLine: false };
      lanes.set(work.sessionKey, lane);
      if (where === "head") lane.waiting.unshift(work);
      else lane.waiting.push(work);
      waiting++;
      queueUp(lane);
    },
    next(turn) {
      const lane = nextLane();
      if (!lane) return null;
      lane.inLine = false;
      const work = lane.waiting.shift();
      if (!work) return null;
      waiting--;
      running++;
      lane.running = turn(work);
      return { work, running: lane.running };
    },
    release(key) {
      const lane = lanes.get(key);
      if (!lane?.running) return;
      lane.running = null;
      running--;
      queueUp(lane);
      if (lane.waiting.length === 0) lanes.delete(key);
    },
    running: (key) => lanes.get(key)?.running ?? null,
    waitingIn: (key) => lanes.get(key)?.waiting.length ?? 0,
    stats: () => ({ waiting, running, lanes: lanes.size }),
  };
}
