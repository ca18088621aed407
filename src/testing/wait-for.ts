/**
 * The waits of tests. Each has a name and a deadline of its own, far below the limit of a test, and says what it saw last: a test that waits
 * in vain explains itself. Tests wait by these functions and by nothing else; the house rules look for loops of their own.
 */
import type { FakeClock } from "./fake-clock.ts";
import { systemClock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";

/** For what happens within one process, or over a loopback connection. */
const WAIT_MS = 20_000;
/** For whole gateways and real pi: a start takes a second, on a busy machine several. */
export const WHOLE_WAIT_MS = 45_000;
/** Most waits within a process end after a few turns of the event loop. */
const QUICK_LOOKS = 50;
const QUICK_MS = 5;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
/** A look may be a request to a gateway, and some tests wait at the same time: with short pauses, looking was a tenth of all their work. */
const PAUSE_PER_LOOK = 40;
/** For fake time: each of very many steps may be a question to a server. */
const FAKE_WAIT_MS = 60_000;
/** A day of fake time in steps of a second is more than any test needs. */
const MAX_FAKE_STEPS = 100_000;
const NEVER = new AbortController().signal;
const MAX_SHOWN_CHARS = 2_000;

interface WaitOptions {
  readonly withinMs?: number;
}

/** Looks again and again until it fits; without `fits`, until it is true. Returns what it saw. */
export async function waitFor<T>(
  what: string,
  look: () => T | Promise<T>,
  fits: (seen: T) => boolean = Boolean,
  { withinMs = WAIT_MS }: WaitOptions = {},
): Promise<T> {
  const began = systemClock.elapsed();
  for (let looks = 0; ; looks++) {
    const lookedAt = systemClock.elapsed();
    const seen = await look();
    if (fits(seen)) return seen;
    const now = systemClock.elapsed();
    if (now - began > withinMs) throw new WaitedInVain(what, withinMs, shown(seen));
    if (looks < QUICK_LOOKS && now - began < QUICK_MS) await new Promise((resolve) => setImmediate(resolve));
    else await systemClock.sleep(pauseAfter(now - lookedAt), NEVER);
  }
}

function pauseAfter(lookMs: number): number {
  return Math.min(Math.max(lookMs * PAUSE_PER_LOOK, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** A promise that should settle by itself. */
export async function waitForEnd<T>(
  what: string,
  promise: Promise<T>,
  { withinMs = WAIT_MS }: WaitOptions = {},
): Promise<T> {
  using limit = systemClock.deadline(withinMs, () => new WaitedInVain(what, withinMs, "it is still open"));
  return await orAborted(promise, limit.signal);
}

/** Lets fake time pass, step by step, until it fits; without `fits`, until it is true. Returns what it saw. */
export async function advanceUntil<T>(
  { clock, stepMs }: { readonly clock: FakeClock; readonly stepMs: number },
  what: string,
  look: () => T | Promise<T>,
  fits: (seen: T) => boolean = Boolean,
): Promise<T> {
  const until = systemClock.elapsed() + FAKE_WAIT_MS;
  for (let step = 0; ; step++) {
    const seen = await look();
    if (fits(seen)) return seen;
    if (step >= MAX_FAKE_STEPS || systemClock.elapsed() > until)
      throw new WaitedInVain(what, step * stepMs, shown(seen), " of fake time");
    await clock.advance(stepMs);
  }
}

class WaitedInVain extends Error {
  constructor(what: string, ms: number, seen: string, kind = "") {
    super(`waited ${ms} ms${kind} for: ${what}; last seen: ${seen}`);
  }
}

function shown(seen: unknown): string {
  const text = Bun.inspect(seen, { depth: 6 });
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)} …`;
}
