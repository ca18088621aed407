/** Which waiting sessions go to which other gateway. Pure. */
import type { InstanceId, SessionKey } from "../contracts/ids.ts";

/** `willing`: it takes sessions of others. */
export interface Load {
  readonly waiting: number;
  readonly willing: boolean;
}

interface Loads {
  /** Messages that wait here. */
  readonly waiting: number;
  /** Sessions that could go, those whose turn comes last first. None of them has a running turn, and none came a moment ago. */
  readonly movable: readonly { readonly sessionKey: SessionKey; readonly waiting: number }[];
  readonly others: ReadonlyMap<InstanceId, Load>;
  /** This gateway wants to be stopped: it gives away whatever it can. */
  readonly draining: boolean;
  /** The last look found the loads uneven as well. */
  readonly before: boolean;
}

export interface Move {
  readonly sessionKey: SessionKey;
  readonly to: InstanceId;
}

interface Chosen {
  readonly moves: readonly Move[];
  /** So much more waits here than elsewhere that something would be moved, if it stays so. */
  readonly uneven: boolean;
}

/** So much more has to wait here that moving a session file is worth it; less than this is evened out by the next messages. */
const MUCH_MORE = 4;
/** In one look, so that the others have told what they have by the next one. */
const MAX_MOVES = 8;

/**
 * A session goes when much more waits here, at two looks in a row, and afterwards not more waits there than here: so nothing goes back and forth.
 * Each goes to the gateway where least waits.
 */
export function chooseMoves({ waiting, movable, others, draining, before }: Loads): Chosen {
  const there = new Map([...others].filter(([, { willing }]) => willing).map(([node, load]) => [node, load.waiting]));
  let here = waiting;
  const moves: Move[] = [];
  for (const { sessionKey, waiting: size } of movable) {
    const to = least(there);
    if (!to || moves.length === MAX_MOVES) break;
    const [node, load] = to;
    if (!draining && here - load < MUCH_MORE) break;
    if (!draining && here - size < load + size) continue; // more would wait there then
    moves.push({ sessionKey, to: node });
    here -= size;
    there.set(node, load + size);
  }
  const uneven = moves.length > 0;
  return { moves: before || draining ? moves : [], uneven };
}

function least(loads: ReadonlyMap<InstanceId, number>): readonly [InstanceId, number] | undefined {
  return [...loads].toSorted(([one, a], [other, b]) => a - b || (one < other ? -1 : 1))[0];
}
