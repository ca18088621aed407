/**
 * People who write to whichever gateway they reach, and again under the same key until one of them has said "accepted". Somebody may be made to
 * say next what no model can answer.
 */
import { systemClock } from "../../src/kit/clock.ts";
import type { Chance } from "../../src/testing/chance.ts";
import type { SentMessage } from "./verdict.ts";
import type { NodesWorld } from "./world.ts";

interface PeopleOptions {
  readonly sessions: number;
  /** At least so many in each session. */
  readonly messages: number;
  /** Between two messages of a session: at least, and at most. */
  readonly pauseMs: readonly [number, number];
  readonly chance: Chance;
}

export interface People {
  readonly sent: readonly SentMessage[];
  /** The next message of this session is poisoned, and is sent as soon as the one before it was accepted. */
  poison(session: string): void;
  /** From now on nobody writes more than they have to. */
  finish(): void;
  /** Everything was accepted. */
  isDone(): boolean;
  /** Writes no more, and resolves when nobody does. What was not accepted is left. */
  stop(): Promise<void>;
}

const ACCEPT_MS = 30_000;
const never = new AbortController().signal;
const POISON = ", which is poison";

export const hasPoison = (text: string): boolean => text.endsWith(POISON);
export const sessionName = (at: number): string => `s${at}`;

export function startPeople(world: NodesWorld, { sessions, messages, pauseMs, chance }: PeopleOptions): People {
  const sent: SentMessage[] = [];
  const stopping = new AbortController();
  const poisoned = new Set<string>();
  const pauses = new Map<string, AbortController>();
  let finishing = false;

  const pause = async (session: string, ms: number): Promise<void> => {
    const ended = new AbortController();
    pauses.set(session, ended);
    await systemClock.sleep(poisoned.has(session) ? 0 : ms, ended.signal).catch(() => undefined); // woken
  };

  const write = async (session: string): Promise<void> => {
    const own = chance.fork(session);
    const isOver = (number: number): boolean => stopping.signal.aborted || (finishing && number >= messages);
    for (let number = 0; !isOver(number); number++) {
      const isPoisoned = poisoned.delete(session);
      const text = `${session} says ${number}${isPoisoned ? POISON : ""}`;
      const message = { session, number, text, isPoisoned };
      const place = sent.push({ ...message, acknowledgedAt: null }) - 1;
      await untilAccepted(world, message, { chance: own, signal: stopping.signal });
      if (!stopping.signal.aborted) sent[place] = { ...message, acknowledgedAt: performance.now() };
      if (!isOver(number + 1)) await pause(session, own.between(...pauseMs));
    }
    pauses.delete(session);
  };
  let writing = sessions;
  const all = Array.from({ length: sessions }, async (_none, at) => {
    await write(sessionName(at));
    writing--;
  });
  const wakeAll = (): void => pauses.forEach((ended) => ended.abort());
  return {
    sent,
    poison(session) {
      poisoned.add(session);
      pauses.get(session)?.abort();
    },
    finish() {
      finishing = true;
      wakeAll();
    },
    isDone: () => writing === 0,
    async stop() {
      stopping.abort(new Error("the run is over"));
      wakeAll();
      await Promise.all(all);
    },
  };
}

interface Writing {
  readonly chance: Chance;
  readonly signal: AbortSignal;
}

/** Again and again under the same key. Resolves when it was accepted, or the signal has aborted. */
async function untilAccepted(world: NodesWorld, message: Parameters<typeof isAccepted>[1], writing: Writing) {
  if (writing.signal.aborted || (await isAccepted(world, message, writing.chance))) return;
  await systemClock.sleep(writing.chance.between(50, 500), never);
  await untilAccepted(world, message, writing);
}

/** Over a stream, whose first event says that it is stored. Never rejects. */
async function isAccepted(
  { nodes }: NodesWorld,
  { session, text }: { readonly session: string; readonly text: string },
  chance: Chance,
): Promise<boolean> {
  const node = chance.pick(nodes);
  const token = node.process()?.token;
  if (token === undefined) return false;
  const limit = AbortSignal.timeout(ACCEPT_MS);
  try {
    const response = await fetch(`${node.url}/api/chat`, {
      method: "POST",
      signal: limit,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": text.replaceAll(/[ ,]+/g, "-"),
      },
      body: JSON.stringify({ text, session, stream: true }),
    });
    if (response.status !== 200 || !response.body) return false;
    const reader = response.body.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value !== undefined && new TextDecoder().decode(value).includes("event: accepted");
  } catch {
    return false; // cut, refused, or too late: it is sent again under the same key
  }
}
