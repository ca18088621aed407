/**
 * Messages that another process left unfinished come into the lanes: those of the one before this at its start, and those of a gateway that died
 * beside this one while it works. None twice, and each before what was accepted later in its session.
 */
import type { TurnId } from "../contracts/ids.ts";
import type { UnfinishedRow } from "../contracts/store/inbox.ts";
import type { TakenMessage } from "../contracts/store/nodes.ts";
import type { Store } from "../contracts/store.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { untilDone } from "../kit/until-done.ts";
import type { Admission } from "./admission.ts";
import type { Lanes } from "./lanes.ts";
import { recoverWork, type WorkKindOf } from "./recovery.ts";
import { ACCUSED_AT, isOverflow, type Work } from "./work.ts";

interface LeftWorkWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "inbox" | "turns">;
  readonly lanes: Lanes;
  readonly admission: Admission;
  readonly workKind: WorkKindOf;
  ring(): void;
  /** By the clock of the lanes. */
  expiryOf(receivedAt: number): number;
}

interface Recovered {
  readonly waiting: number;
  readonly interrupted: number;
}

/** Of the process before this one: the lanes are empty. */
export async function recover(world: LeftWorkWorld): Promise<Recovered> {
  const { lanes, clock } = world;
  await world.store.turns.countCrashes(ACCUSED_AT);
  const rows = await world.store.inbox.unfinished();
  const left = workIn(world, rows);
  for (const work of left) {
    if (isOverflow(work)) lanes.addOverflow(work, null, clock.elapsed());
    else lanes.add(work, "end", clock.elapsed());
  }
  return takenUp(world, rows, left);
}

/** Of gateways that are gone: this one has taken them over. Nothing of their sessions begins before they are there. Never rejects. */
export async function adopt(
  world: LeftWorkWorld,
  taken: readonly TakenMessage[],
  signal: AbortSignal,
): Promise<Recovered | null> {
  const { clock, log, lanes, store } = world;
  const expected = lanes.expect(taken);
  const ids = new Set(taken.map(({ id }) => id));
  const turnIds = new Set(taken.flatMap(({ turnId }) => (turnId === null ? [] : [turnId])));
  const failed = (error: unknown, nextTryInMs: number): void =>
    log.error("messages of another gateway could not be read", { nextTryInMs, error });
  const rows = await untilDone({ clock, failed }, () => unfinishedOf(store, ids, turnIds), signal);
  const left = workIn(world, rows ?? []);
  expected.come(left, clock.elapsed());
  return rows && takenUp(world, rows, left);
}

async function unfinishedOf(
  { turns, inbox }: LeftWorkWorld["store"],
  ids: ReadonlySet<string>,
  turnIds: ReadonlySet<TurnId>,
): Promise<readonly UnfinishedRow[]> {
  await turns.countCrashes(ACCUSED_AT, [...turnIds]); // counted again after a failure, it counts nothing: the turns are not at work any more
  return (await inbox.unfinished()).filter(({ id }) => ids.has(id));
}

function workIn({ workKind, expiryOf }: LeftWorkWorld, rows: readonly UnfinishedRow[]): readonly Work[] {
  return recoverWork(rows, workKind, ({ message }) => expiryOf(message.receivedAt));
}

function takenUp(
  { admission, lanes, ring }: LeftWorkWorld,
  rows: readonly UnfinishedRow[],
  left: readonly Work[],
): Recovered {
  for (const work of left) if (!isOverflow(work)) admission.remember(work);
  for (const { sessionKey, mode } of rows) lanes.setMode(sessionKey, mode);
  ring();
  return { waiting: left.length, interrupted: left.filter(({ turnId }) => turnId !== null).length };
}
