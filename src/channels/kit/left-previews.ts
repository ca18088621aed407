/** Removes previews that no reply has taken over: of a turn that ended without one, and of turns of a previous process. */
import type { RepliesUnderWay } from "../../contracts/channels/platform.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { AccountState } from "./account-state.ts";
import { forgetNote, notedTurns, type PreviewNote, readNote, writeNote } from "./preview-notes.ts";
import { isInDoubt, type PreviewPlatform } from "./preview-platform.ts";
import { createTasks } from "./tasks.ts";

interface LeftPreviews {
  /** The turn has begun: whatever a previous process has shown of it stays until its end. */
  begun(turnId: TurnId): void;
  /**
   * The turn has ended. `quiet`: what it was about to show is shown; null: it has shown nothing in this process. Resolves when its preview needs
   * no care any more.
   */
  over(turnId: TurnId, quiet: Promise<unknown> | null): Promise<void>;
  /** A reply takes over what was shown of this turn. When it resolves, nothing of it is being removed. */
  claim(turnId: TurnId): Promise<void>;
  /** That reply was refused for good: what was shown is left again. */
  release(turnId: TurnId): void;
  /** Removes at once what is shown of this turn, although more is owed to its chat. */
  remove(turnId: TurnId): Promise<void>;
  settled(): Promise<void>;
}

export interface LeftPreviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly facts: AccountState;
  readonly replies: RepliesUnderWay;
}

type Removing = Pick<PreviewPlatform<unknown>, "removal" | "repeat" | "remove" | "failureOf">;

export function startLeftPreviews(deps: LeftPreviewDeps, platform: Removing, signal: AbortSignal): LeftPreviews {
  const { startMs, againMs, maxTries } = platform.removal;
  const left = new Set<TurnId>();
  const running = new Set<TurnId>();
  const removing = new Map<TurnId, Promise<unknown>>();
  const tasks = createTasks((error) => deps.log.debug("preview not cleaned up", { error }));

  const remove = (turnId: TurnId, replies: RepliesUnderWay): Promise<boolean> => {
    const removed = takeAway({ ...deps, replies }, platform, turnId, signal).finally(() => removing.delete(turnId));
    removing.set(turnId, removed);
    return removed;
  };
  const wait = async (turnId: TurnId, waitMs: number, quiet: Promise<unknown> | null): Promise<void> => {
    left.add(turnId);
    await quiet;
    for (let tries = 0; tries < maxTries; tries++) {
      await deps.clock.sleep(tries === 0 ? waitMs : againMs, signal).catch(() => undefined); // the next process looks again
      if (signal.aborted || running.has(turnId) || !left.has(turnId)) return;
      if (await remove(turnId, deps.replies)) return void left.delete(turnId);
    }
    left.delete(turnId); // its note is for the next process
  };
  const lookBack = async (): Promise<void> => {
    for (const turnId of await notedTurns(deps.facts)) void tasks.add(wait(turnId, startMs, null));
  };
  void tasks.add(lookBack());

  return {
    begun(turnId) {
      running.add(turnId); // also before it is known what was left: that is being read
    },
    async over(turnId, quiet) {
      const ran = running.delete(turnId);
      if (quiet !== null || (ran && left.has(turnId))) await tasks.add(wait(turnId, againMs, quiet));
    },
    async claim(turnId) {
      left.delete(turnId);
      await removing.get(turnId)?.catch(() => undefined); // whoever removes says so
    },
    release: (turnId) => void tasks.add(wait(turnId, againMs, null)),
    async remove(turnId) {
      await remove(turnId, { ...deps.replies, owes: () => false, isOwed: async () => false });
    },
    settled: () => tasks.settled(),
  };
}

/** False: not now. */
async function takeAway(
  deps: LeftPreviewDeps,
  platform: Removing,
  turnId: TurnId,
  signal: AbortSignal,
): Promise<boolean> {
  const { facts, log, replies } = deps;
  const first = await readNote(facts, turnId);
  if (first === null) return true; // its reply stands there
  if (replies.owes(first.to) || (await replies.isOwed(turnId))) return false;
  // read again: what was owed a moment ago may have been delivered into it
  const note = await readNote(facts, turnId);
  if (note === null) return true;
  try {
    const message = note.taken ? null : await messageOf(deps, platform, { turnId, note }, signal);
    if (message !== null && !replies.isHeld()) return false;
    if (message !== null) await platform.remove({ where: note.where, message }, signal);
  } catch (error) {
    if (signal.aborted) return false;
    const { kind } = platform.failureOf(error, note.to);
    log.debug("preview not removed", { kind });
    if (kind !== "refused" && kind !== "gone") return false;
  }
  await forgetNote(facts, turnId);
  return true;
}

async function messageOf(
  { clock, facts, log }: LeftPreviewDeps,
  platform: Removing,
  { turnId, note }: { readonly turnId: TurnId; readonly note: PreviewNote },
  signal: AbortSignal,
): Promise<string | null> {
  if (note.message !== null) return note.message;
  if (platform.repeat === null || isInDoubt(platform, note, clock.now())) {
    log.warn("preview in doubt: it may be shown without an end", { turnId });
    return null;
  }
  const message = await platform.repeat.find(turnId, note.where, signal);
  if (message !== null) await writeNote(facts, turnId, { ...note, message });
  return message;
}
