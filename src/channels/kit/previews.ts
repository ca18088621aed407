/**
 * Shows a turn while it is answered: "typing" first, then one message that is edited with the newest text, never faster than the platform
 * allows. The reply takes that message over, also after a crash. Nothing is lost with a preview that fails.
 */
import type { ChatAddress } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import type { InboxId, TurnId } from "../../contracts/ids.ts";
import { followTurn, type LivePreview } from "./follow-turn.ts";
import { type LeftPreviewDeps, startLeftPreviews } from "./left-previews.ts";
import { forgetNote, type PreviewNote, readNote, writeNote } from "./preview-notes.ts";
import { isInDoubt, type PreviewPlatform, type PreviewSpot } from "./preview-platform.ts";
import { createTasks } from "./tasks.ts";
import { emptyView, hearTurns, type StreamMode } from "./turn-views.ts";

export interface Previews extends AsyncDisposable {
  /** The answer to this message is to be shown there. */
  expect(id: InboxId, spot: PreviewSpot): void;
  /** Its reply is here: ends the preview of this turn, and says where it is. */
  take(turnId: TurnId, to: ChatAddress): Promise<TakenPreview>;
  /** That reply was refused for good: what was shown is a preview again, and goes. */
  release(turnId: TurnId): Promise<void>;
  /** Something else is said first: what is shown goes, or it would stand above that. What follows is shown below it. */
  drop(turnId: TurnId): Promise<void>;
  /** The reply is sent. */
  forget(turnId: TurnId): Promise<void>;
}

interface TakenPreview {
  /** Null: there is no message that the reply could be written into. */
  readonly message: string | null;
  /** It may be shown, and nobody knows where. */
  readonly inDoubt: boolean;
  /** What stands in it, as the platform's `keyOf` names it; null: not known. */
  readonly shown: string | null;
}

interface PreviewDeps extends LeftPreviewDeps {
  readonly events: Pick<Events, "on">;
}

const NOTHING: TakenPreview = { message: null, inDoubt: false, shown: null };
/** More of an answer is never looked at: no platform shows as much in one message. */
const MAX_HEARD_CHARS = 6_000;

interface Live {
  readonly preview: LivePreview;
  /** Ends its loops; a message that is being sent is waited for. */
  readonly ended: AbortController;
  /** Ends what is being sent as well. */
  readonly cut: AbortController;
  /** Never rejects. */
  readonly running: Promise<void>;
}

export function startPreviews<Content>(
  deps: PreviewDeps,
  platform: PreviewPlatform<Content>,
  mode: StreamMode,
): Previews {
  const { clock, facts, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const live = new Map<TurnId, Live>();
  /** Turns that go on while what was shown of them is removed. */
  const dropping = new Set<TurnId>();
  const tasks = createTasks((error) => log.warn("preview given up", { error })); // the disk, for example; the reply goes out all the same
  const left = startLeftPreviews(deps, platform, signal);

  const start = (turnId: TurnId, { to, replyTo }: PreviewSpot, as = mode): void => {
    if (signal.aborted) return;
    const [ended, cut] = [new AbortController(), new AbortController()];
    // a call that was begun is waited for where nothing else would tell which message it made
    const calls = platform.repeat === null ? new AbortController().signal : AbortSignal.any([cut.signal, signal]);
    const preview = { ...emptyView(), turnId, to, replyTo, calls, note: null, shown: null, isLost: false };
    const until = AbortSignal.any([ended.signal, signal]);
    const running = tasks.add(followTurn(deps, platform, { preview, mode: as }, until));
    live.set(turnId, { preview, ended, cut, running });
  };
  const end = async ({ ended, running }: Live): Promise<void> => {
    ended.abort(new Error("the turn is over"));
    await running;
  };
  const over = async (turnId: TurnId): Promise<void> => {
    const found = live.get(turnId);
    dropping.delete(turnId);
    await left.over(turnId, found ? end(found) : null);
    if (live.get(turnId) === found) live.delete(turnId);
  };
  const views = hearTurns<PreviewSpot>(deps.events, {
    maxChars: MAX_HEARD_CHARS,
    begun: left.begun,
    show: (turnId, spot) => start(turnId, spot),
    viewOf: (turnId) => live.get(turnId)?.preview,
    over: (turnId) => void tasks.add(over(turnId)),
  });
  const mark = async (turnId: TurnId, note: PreviewNote, taken: boolean): Promise<void> => {
    if (note.taken !== taken) await writeNote(facts, turnId, { ...note, taken });
  };

  return {
    expect: views.expect,
    async take(turnId, to) {
      const found = live.get(turnId);
      found?.cut.abort(new Error("its reply is here"));
      if (found) await end(found);
      await left.claim(turnId);
      live.delete(turnId);
      const stored = await readNote(facts, turnId);
      if (!stored) return NOTHING; // nothing was shown, or it has just been removed
      const note = found?.preview.note ?? stored; // a message that could not be written down is known here alone
      await mark(turnId, note, true);
      const message = note.where === platform.where(to) ? note.message : null;
      const shown = message === null ? null : (found?.preview.shown ?? null);
      return { message, inDoubt: isInDoubt(platform, note, clock.now()), shown };
    },
    async release(turnId) {
      const note = await readNote(facts, turnId);
      if (!note) return;
      await mark(turnId, note, false);
      left.release(turnId);
    },
    async drop(turnId) {
      const found = live.get(turnId);
      if (!found) return;
      if (!found.ended.signal.aborted) dropping.add(turnId);
      found.cut.abort(new Error("something else is said first"));
      await end(found);
      await left.remove(turnId);
      const wasSent = found.preview.note !== null;
      if (dropping.delete(turnId)) start(turnId, found.preview, wasSent && platform.repeat ? "off" : mode);
    },
    forget: (turnId) => forgetNote(facts, turnId),
    async [Symbol.asyncDispose]() {
      views[Symbol.dispose]();
      stopping.abort(new Error("the channel is closing"));
      await Promise.all([tasks.settled(), left.settled()]);
    },
  };
}
