/** People who write to whichever gateway they reach, and again under the same key until one of them has said "accepted". */
import { systemClock } from "../../src/kit/clock.ts";
import type { Chance } from "../../src/testing/chance.ts";
import type { SentMessage } from "./verdict.ts";
import type { NodesWorld } from "./world.ts";

interface PeopleOptions {
  readonly sessions: number;
  readonly messages: number;
  readonly chance: Chance;
}

interface People {
  readonly sent: readonly SentMessage[];
  /** Everything was accepted. */
  isDone(): boolean;
  /** Writes no more, and resolves when nobody does. What was not accepted is left. */
  stop(): Promise<void>;
}

const ACCEPT_MS = 30_000;
const PAUSE_MS: readonly [number, number] = [50, 2_500];
const never = new AbortController().signal;

export function startPeople(world: NodesWorld, { sessions, messages, chance }: PeopleOptions): People {
  const sent: SentMessage[] = [];
  const stopping = new AbortController();

  const write = async (session: string): Promise<void> => {
    const own = chance.fork(session);
    for (let number = 0; number < messages && !stopping.signal.aborted; number++) {
      const text = `${session} says ${number}`;
      const place = sent.push({ session, number, text, acknowledgedAt: null }) - 1;
      await untilAccepted(world, { session, text }, { chance: own, signal: stopping.signal });
      if (!stopping.signal.aborted) sent[place] = { session, number, text, acknowledgedAt: performance.now() };
      await systemClock.sleep(own.between(...PAUSE_MS), never);
    }
  };
  let writing = sessions;
  const all = Array.from({ length: sessions }, async (_none, at) => {
    await write(`s${at}`);
    writing--;
  });
  return {
    sent,
    isDone: () => writing === 0,
    async stop() {
      stopping.abort(new Error("the run is over"));
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
        "idempotency-key": text.replaceAll(" ", "-"),
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
