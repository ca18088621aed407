/**
 * Takes away previews that no reply has taken over: of a turn that ended without one, and of turns of a previous process. Which message it was
 * has been noted before.
 */
import type { TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { AccountState } from "./account-state.ts";
import { createTasks } from "./tasks.ts";

export interface LeftPreviews {
  /** The turn has begun: whatever a previous process has shown of it stays until its end. */
  begun(turnId: TurnId): void;
  /**
   * The turn has ended. `quiet`: what it was about to show is shown; null: it has shown nothing in this process. Resolves when its preview needs
   * no care any more.
   */
  over(turnId: TurnId, quiet: Promise<unknown> | null): Promise<void>;
  /** A reply takes over what was shown of this turn. When it resolves, nothing of it is being taken away. */
  claim(turnId: TurnId): Promise<void>;
  /** That reply was refused for good: what was shown is left again. */
  release(turnId: TurnId): void;
  /** Takes away at once what is shown of this turn, although more is owed to its chat. */
  remove(turnId: TurnId): Promise<void>;
  settled(): Promise<void>;
}

/** What is known of a preview across restarts. */
interface Noted {
  /** Its reply was on the way into it, and may stand there although nobody heard so: it is no preview any more. */
  readonly taken: boolean;
}

/** What is different on each platform. */
export interface PreviewRemoval<N extends Noted> {
  /** Null: nothing is noted, because its reply stands there. */
  read(turnId: TurnId): Promise<N | null>;
  /** Something is still to be delivered in its chat, and may be its reply. */
  owes(noted: N): boolean;
  remove(noted: N, turnId: TurnId, signal: AbortSignal): Promise<void>;
  /** The platform said no, and would say so again. */
  isFinal(error: unknown): boolean;
  /** How long after a start it is waited: whatever is sent or tried again has begun by then. */
  readonly startMs: number;
  /** How long after the end of its turn, and between two tries. */
  readonly againMs: number;
  readonly maxTries: number;
}

interface LeftPreviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly facts: AccountState;
}

/** How the keys of all previews begin. */
const KEYS = "preview:";
export const previewKey = (turnId: TurnId): string => KEYS + turnId;

export function startLeftPreviews<N extends Noted>(
  deps: LeftPreviewDeps,
  platform: PreviewRemoval<N>,
  signal: AbortSignal,
): LeftPreviews {
  const left = new Set<TurnId>();
  const running = new Set<TurnId>();
  const removing = new Map<TurnId, Promise<unknown>>();
  const tasks = createTasks((error) => deps.log.debug("preview not cleaned up", { error }));

  const remove = (turnId: TurnId, owes: PreviewRemoval<N>["owes"]): Promise<boolean> => {
    const removed = takeAway(deps, { ...platform, owes }, turnId, signal).finally(() => removing.delete(turnId));
    removing.set(turnId, removed);
    return removed;
  };
  const wait = async (turnId: TurnId, waitMs: number, quiet: Promise<unknown> | null): Promise<void> => {
    left.add(turnId);
    await quiet;
    for (let tries = 0; tries < platform.maxTries; tries++) {
      await deps.clock.sleep(tries === 0 ? waitMs : platform.againMs, signal).catch(() => undefined); // the next process looks again
      if (signal.aborted || running.has(turnId) || !left.has(turnId)) return;
      if (await remove(turnId, platform.owes)) return void left.delete(turnId);
    }
    left.delete(turnId); // its note is for the next process
  };
  const lookBack = async (): Promise<void> => {
    for (const { key } of await deps.facts.list(KEYS))
      void tasks.add(wait(key.slice(KEYS.length) as TurnId, platform.startMs, null));
  };
  void tasks.add(lookBack());

  return {
    begun(turnId) {
      running.add(turnId); // also before it is known what was left: that is being read
    },
    async over(turnId, quiet) {
      const ran = running.delete(turnId);
      if (quiet !== null || (ran && left.has(turnId))) await tasks.add(wait(turnId, platform.againMs, quiet));
    },
    async claim(turnId) {
      left.delete(turnId);
      await removing.get(turnId)?.catch(() => undefined); // whoever removes says so
    },
    release: (turnId) => void tasks.add(wait(turnId, platform.againMs, null)),
    async remove(turnId) {
      await remove(turnId, () => false);
    },
    settled: () => tasks.settled(),
  };
}

/** False: not now. */
async function takeAway<N extends Noted>(
  { facts, log }: LeftPreviewDeps,
  platform: PreviewRemoval<N>,
  turnId: TurnId,
  signal: AbortSignal,
): Promise<boolean> {
  const first = await platform.read(turnId);
  if (first === null) return true;
  if (platform.owes(first)) return false;
  // read again: what was owed a moment ago may have been delivered into it
  const noted = await platform.read(turnId);
  if (noted === null) return true;
  try {
    if (!noted.taken) await platform.remove(noted, turnId, signal);
  } catch (error) {
    if (signal.aborted) return false;
    const isFinal = platform.isFinal(error);
    log.debug("preview not removed", { isFinal });
    if (!isFinal) return false;
  }
  await facts.forget(previewKey(turnId));
  return true;
}
