/**
 * Shows an answer while it is being written: "typing" first, then one message that is edited, never twice within a second, the newest text
 * each time. The reply takes that message over. Its id outlives a crash, so that the answer still ends up there.
 */
import type { InboxId, TurnId } from "../../../contracts/ids.ts";
import { emptyView, hearTurns, previewKey, startLeftPreviews, type StreamMode } from "../../kit/index.ts";
import { previewRemoval } from "./left-previews.ts";
import {
  followTurn,
  type KnownPreview,
  type LivePreview,
  notePreview,
  type PreviewDeps,
  readPreview,
} from "./preview-turn.ts";

export interface Previews extends AsyncDisposable {
  /** The answer to this message is to be shown in this channel. */
  expect(inboxId: InboxId, channel: string, replyTo?: string): void;
  /** Ends the preview of a turn and says where it is. Null: there is none. */
  take(turnId: TurnId): Promise<KnownPreview | null>;
  /** The reply was refused for good, and is not in it. */
  putBack(turnId: TurnId): Promise<void>;
  /** Something else is said first: what is shown goes, or it would stand above that. The rest of the turn is shown as "typing". */
  drop(turnId: TurnId): Promise<void>;
  forget(turnId: TurnId): Promise<void>;
}

/** No answer is longer. */
const MAX_HEARD_CHARS = 1_000_000;

type Spot = Pick<LivePreview, "channel" | "replyTo">;

const UNSENT = { begunAt: null, lost: false };

interface Live {
  readonly preview: LivePreview;
  /** Ends its loops; a message that is being sent is waited for. */
  readonly ended: AbortController;
  /** Ends what is being sent as well. */
  readonly cut: AbortController;
  /** Never rejects. */
  readonly running: Promise<void>;
}

export function startPreviews(deps: PreviewDeps, mode: StreamMode): Previews {
  const stopping = new AbortController();
  const live = new Map<TurnId, Live>();
  /** Turns that go on while what was shown of them is taken away. */
  const dropping = new Set<TurnId>();
  const left = startLeftPreviews(deps, previewRemoval(deps), stopping.signal);

  const start = (turnId: TurnId, { channel, replyTo }: Spot, as = mode): void => {
    if (!stopping.signal.aborted) live.set(turnId, show(deps, { turnId, channel, replyTo }, as, stopping.signal));
  };
  const end = async (turnId: TurnId): Promise<LivePreview | null> => {
    const found = live.get(turnId);
    if (!found) return null;
    found.ended.abort(new Error("the turn is over"));
    await found.running;
    live.delete(turnId);
    return found.preview;
  };
  const views = hearTurns<Spot>(deps.events, {
    maxChars: MAX_HEARD_CHARS,
    begun: left.begun,
    show: (turnId, spot) => start(turnId, spot),
    viewOf: (turnId) => live.get(turnId)?.preview,
    over(turnId) {
      dropping.delete(turnId);
      void left.over(turnId, live.has(turnId) ? end(turnId) : null);
    },
  });

  return {
    expect: (inboxId, channel, replyTo) => views.expect(inboxId, { channel, replyTo: replyTo ?? null }),
    async take(turnId) {
      live.get(turnId)?.cut.abort(new Error("its reply is here"));
      await end(turnId);
      await left.claim(turnId);
      return noteTaken(deps, turnId, true);
    },
    async putBack(turnId) {
      await noteTaken(deps, turnId, false);
      left.release(turnId);
    },
    async drop(turnId) {
      const found = live.get(turnId);
      if (!found || (found.preview.message === null && found.preview.begunAt === null)) return;
      if (!found.ended.signal.aborted) dropping.add(turnId);
      found.cut.abort(new Error("something else is said first"));
      await end(turnId);
      await left.remove(turnId);
      if (dropping.delete(turnId)) start(turnId, found.preview, "off"); // Discord makes no second message under the nonce of a deleted one
    },
    forget: (turnId) => deps.facts.forget(previewKey(turnId)),
    async [Symbol.asyncDispose]() {
      views[Symbol.dispose]();
      stopping.abort(new Error("the channel is closing"));
      await Promise.all([...live.values()].map(({ running }) => running));
      await left.settled();
    },
  };
}

function show(
  deps: PreviewDeps,
  place: Pick<LivePreview, "turnId" | "channel" | "replyTo">,
  mode: StreamMode,
  signal: AbortSignal,
): Live {
  const [ended, cut] = [new AbortController(), new AbortController()];
  const calls = AbortSignal.any([cut.signal, signal]);
  const preview: LivePreview = {
    ...place,
    calls,
    ...emptyView(),
    shown: "",
    message: null,
    ...UNSENT,
  };
  return { preview, ended, cut, running: followTurn(deps, preview, mode, AbortSignal.any([ended.signal, signal])) };
}

async function noteTaken({ facts }: PreviewDeps, turnId: TurnId, taken: boolean): Promise<KnownPreview | null> {
  const known = await readPreview(facts, turnId);
  if (known && known.taken !== taken) await notePreview(facts, turnId, { ...known, taken });
  return known;
}
