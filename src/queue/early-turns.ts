/**
 * Turns that begin in the transaction that stores their message: nothing else runs or waits in their session, and somebody waits to take them.
 * Every other message waits in its lane, and its turn begins with a write of its own.
 */
import type { InboxId, SessionKey } from "../contracts/ids.ts";
import type { BegunTurn } from "../contracts/store/turns.ts";
import type { Ids } from "../kit/ids.ts";
import { AT_ONCE, type BatchWorld, leave, newTurn } from "./batch.ts";
import type { RunningTurn } from "./lane-table.ts";
import type { Reservation } from "./lanes.ts";
import type { Work } from "./work.ts";

export interface EarlyTurns {
  /** Somebody waits for work, with room for so many turns, until it is disposed of. */
  waits(room: number, signal: AbortSignal): Disposable;
  /** Before the message is stored. Null: it waits in its lane. */
  reserve(sessionKey: SessionKey, id: InboxId): EarlyTurn | null;
  /** Turns that are about to begin. Whoever has room for no more than these takes nothing else. */
  promised(): number;
  /** A turn that has begun. Null: there is none that nobody has taken. */
  shift(): BegunWork | null;
}

/** Ends with `begin` or with `drop`. */
export interface EarlyTurn {
  readonly running: RunningTurn;
  /** It was stored as begun. It is handed out a moment later, so that its message is shown before its turn. */
  begin(work: Work, begun: BegunTurn): void;
  /** The message was not stored, or no turn began with it. */
  drop(): void;
}

interface BegunWork {
  readonly work: Work;
  readonly running: RunningTurn;
  readonly begun: BegunTurn;
}

interface Taker {
  readonly room: number;
  readonly signal: AbortSignal;
}

type EarlyWorld = Omit<BatchWorld, "forget" | "paceOf" | "steers" | "rung"> & { readonly ids: Ids };

export function createEarlyTurns(world: EarlyWorld): EarlyTurns {
  const { lanes, clock } = world;
  const takers = new Set<Taker>();
  const ready: BegunWork[] = [];
  let reserved = 0;

  const room = (): number => {
    let sum = 0;
    for (const taker of takers) if (!taker.signal.aborted) sum += taker.room;
    return sum - ready.length;
  };

  const hand = (one: BegunWork): void => {
    reserved--;
    if (room() > 0) ready.push(one);
    else putBack(one);
    world.ring();
  };

  /** Whoever waited for work has left. The turn goes on under its id when it is taken again. */
  const putBack = ({ work, running, begun }: BegunWork): void => {
    const stopped = running.stop.signal.aborted;
    lanes.add({ ...work, turnId: running.turnId, stopped }, "head", clock.elapsed());
    lanes.release(work.sessionKey, clock.elapsed(), AT_ONCE);
    void leave(world, running.turnId, begun.attempt);
  };

  return {
    waits(places, signal) {
      const taker: Taker = { room: places, signal };
      takers.add(taker);
      return { [Symbol.dispose]: () => void takers.delete(taker) };
    },
    reserve(sessionKey, id) {
      if (room() <= reserved) return null;
      const lane = lanes.reserve(sessionKey, id);
      if (!lane) return null;
      reserved++;
      return earlyTurn(lane, newTurn(world.ids, { turnId: null }));
    },
    promised: () => reserved,
    shift: () => ready.shift() ?? null,
  };

  function earlyTurn(lane: Reservation, running: RunningTurn): EarlyTurn {
    return {
      running,
      begin(work, begun) {
        lane.begin(work, running);
        setImmediate(() => hand({ work, running, begun }));
      },
      drop() {
        reserved--;
        lane.drop(clock.elapsed());
        world.ring(); // its place is free for other work
      },
    };
  }
}
