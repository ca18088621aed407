/** Ends one agent process and everything it started: ask, wait, insist, kill; each step has its own deadline. Never signals a stranger. */
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { withProcessMark } from "./marks.ts";
import { type ProcessIdentity, descendantsOf, identify, isAlive, signalProcess } from "./proc.ts";

const EOF_GRACE_MS = 1_500;
const TERM_GRACE_MS = 1_500;
const KILL_GRACE_MS = 2_000;
/** For what a turn left running. Somebody may wait for the process that it holds up. */
const LEFT_GRACE_MS = 500;
const POLL_MS = 20;
/** Most programs end at once when they are asked to. */
const FIRST_POLL_MS = 2;
const MAX_ROUNDS = 5;

interface Stoppable {
  readonly pid: number;
  /** What its environment, and that of everything it starts, says. */
  readonly id: string;
  readonly identity: ProcessIdentity | null;
  readonly exited: Promise<unknown>;
  closeInput(): void;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** `urgent` skips the asking: for a process that no longer listens. */
export async function stopTree(clock: Clock, target: Stoppable, urgent: boolean): Promise<void> {
  const family = new Map<number, ProcessIdentity>();
  const remember = () => {
    const holder = identify(target.pid);
    if (holder && holder.startTime !== target.identity?.startTime) return; // the number belongs to a stranger by now
    for (const one of descendantsOf(target.pid)) family.set(one.pid, one);
  };
  remember();
  target.closeInput();
  const gone =
    (await endedWithin(clock, target.exited, urgent ? 0 : EOF_GRACE_MS)) || (await insist(clock, target, urgent));
  remember();
  if (!gone) {
    target.kill("SIGKILL");
    await endedWithin(clock, target.exited, KILL_GRACE_MS);
    remember();
  }
  await killAll(clock, [...family.values()]);
  await killFound(clock, () => withProcessMark(target.id));
}

/** What has left the family, by a session of its own and a parent that ended. Again while there is some: it may start more until it is dead. */
async function killFound(clock: Clock, find: () => readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const left = find();
    if (left.length === 0) return [];
    await killAll(clock, left);
  }
  return find();
}

/** Asks whatever `find` finds to end, waits a little, and kills the rest. Returns what is still there. */
export async function endFound(
  clock: Clock,
  find: () => readonly ProcessIdentity[],
): Promise<readonly ProcessIdentity[]> {
  const asked = find();
  for (const one of asked) signalProcess(one, "SIGTERM");
  await gone(clock, asked, LEFT_GRACE_MS);
  return asked.length === 0 ? [] : killFound(clock, find);
}

/** Kills these processes and waits until they are gone. */
export async function killAll(clock: Clock, targets: readonly ProcessIdentity[]): Promise<void> {
  for (const target of targets) signalProcess(target, "SIGKILL");
  await gone(clock, targets, KILL_GRACE_MS);
}

/** Resolves when none of them is there any more, or the time is over. */
async function gone(clock: Clock, targets: readonly ProcessIdentity[], withinMs: number): Promise<void> {
  const until = clock.elapsed() + withinMs;
  for (let pause = FIRST_POLL_MS; targets.some(isAlive) && clock.elapsed() < until; pause = POLL_MS)
    await clock.sleep(pause, NEVER);
}

const NEVER = new AbortController().signal;

async function insist(clock: Clock, target: Stoppable, urgent: boolean): Promise<boolean> {
  if (urgent) return false;
  target.kill("SIGTERM");
  return endedWithin(clock, target.exited, TERM_GRACE_MS);
}

async function endedWithin(clock: Clock, exited: Promise<unknown>, ms: number): Promise<boolean> {
  if (ms === 0) return false;
  using limit = clock.deadline(ms, () => new Error("still running"));
  // awaited here, or the deadline would end before the process
  return await orAborted(exited, limit.signal).then(
    () => true,
    () => false, // the deadline; the caller goes on to the next step
  );
}
