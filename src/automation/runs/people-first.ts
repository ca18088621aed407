/**
 * Work that nobody waits for begins in a pause of the conversations, one piece at a time, and at the latest after a moment: a thousand jobs
 * of the same second are not felt by who chats, and nobody who chats can keep them from running. Knows turns, and not whose they are.
 */
import type { Events } from "../../contracts/events.ts";
import type { InboxId, TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";

export interface PeopleFirst extends Disposable {
  /** Resolves when it is this one's turn. Rejects only with the signal's reason. */
  pause(signal: AbortSignal): Promise<void>;
}

/** So long after the last answer somebody is likely to go on. */
const REST_MS = 50;
const LONGEST_PAUSE_MS = 200;
const LOOK_MS = 25;

/** `isOwn`: a message that came from here. */
export function watchPeople(
  { clock, events }: { readonly clock: Clock; readonly events: Pick<Events, "on"> },
  isOwn: (id: InboxId) => boolean,
): PeopleFirst {
  const running = new Map<TurnId, readonly InboxId[]>();
  let answeredAt = Number.NEGATIVE_INFINITY;
  let before: Promise<unknown> = Promise.resolve();

  const started = events.on("turn.started", ({ turnId, inboxIds }) => void running.set(turnId, inboxIds));
  const ended = events.on("turn.ended", ({ turnId, inboxIds }) => {
    running.delete(turnId);
    if (!inboxIds.some(isOwn)) answeredAt = clock.elapsed();
  });
  const busy = (): boolean =>
    clock.elapsed() - answeredAt < REST_MS || [...running.values()].some((ids) => !ids.some(isOwn));

  const calm = async (signal: AbortSignal): Promise<void> => {
    const latest = clock.elapsed() + LONGEST_PAUSE_MS;
    while (busy() && clock.elapsed() < latest) await clock.sleep(LOOK_MS, signal);
  };

  return {
    pause(signal) {
      const mine = before.then(() => calm(signal));
      before = mine.catch(() => undefined); // whoever waited sees it
      return mine;
    },
    [Symbol.dispose]() {
      started[Symbol.dispose]();
      ended[Symbol.dispose]();
    },
  };
}
