/** Ends one agent process and everything it started: ask, wait, insist, kill; each step has its own deadline. Never signals a stranger. */
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import { type ProcessIdentity, descendantsOf, identify, isAlive, signalProcess, withProcessMark } from "./proc.ts";

const EOF_GRACE_MS = 1_500;
const TERM_GRACE_MS = 1_500;
const KILL_GRACE_MS = 2_000;
const POLL_MS = 20;
const MAX_ROUNDS = 5;

export interface Stoppable {
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
  await killMarked(clock, target.id);
}

/** What has left the family, by a session of its own and a parent that ended. Again while there is some: it may start more until it is dead. */
async function killMarked(clock: Clock, id: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const left = withProcessMark(id);
    if (left.length === 0) return;
    await killAll(clock, left);
  }
}

/** Kills these processes and waits until they are gone. */
export async function killAll(clock: Clock, targets: readonly ProcessIdentity[]): Promise<void> {
  for (const target of targets) signalProcess(target, "SIGKILL");
  const until = clock.elapsed() + KILL_GRACE_MS;
  while (targets.some(isAlive) && clock.elapsed() < until) await clock.sleep(POLL_MS, NEVER);
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
  return orAborted(exited, limit.signal).then(
    () => true,
    () => false, // the deadline; the caller goes on to the next step
  );
}
