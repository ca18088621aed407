/**
 * Shows an answer while it is being written: "typing" first, then one message that is edited, never twice within a second, the newest text
 * each time. The reply takes that message over. Its id outlives a crash, so that the answer still ends up there.
 */
import type { InboxId, TurnId } from "../../../contracts/ids.ts";
import { noteTool, noTools, remember } from "../../kit/index.ts";
import type { StreamMode } from "../settings.ts";
import { startOrphans } from "./orphans.ts";
import {
  followTurn,
  keyOf,
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

const MAX_EXPECTED = 2_000;

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
  const places = new Map<InboxId, Spot>();
  /** Turns that began before it was known where they are to be shown: storing a message and beginning its turn are not far apart. */
  const unplaced = new Map<InboxId, TurnId>();
  const live = new Map<TurnId, Live>();
  /** Turns that go on while what was shown of them is taken away. */
  const dropping = new Set<TurnId>();
  const orphans = startOrphans(deps);

  const start = (turnId: TurnId, { channel, replyTo }: Spot, as = mode): void => {
    if (!stopping.signal.aborted) live.set(turnId, show(deps, { turnId, channel, replyTo }, as, stopping.signal));
  };
  const begun = (turnId: TurnId, inboxIds: readonly InboxId[]): void => {
    orphans.begun(turnId);
    const known = live.get(turnId);
    if (known) return restart(known.preview);
    const spot = inboxIds.map((id) => places.get(id)).findLast((one) => one !== undefined);
    for (const id of inboxIds) places.delete(id);
    if (spot) return start(turnId, spot);
    for (const id of inboxIds) remember(unplaced, id, turnId, MAX_EXPECTED);
  };
  const end = async (turnId: TurnId): Promise<LivePreview | null> => {
    const found = live.get(turnId);
    if (!found) return null;
    found.ended.abort(new Error("the turn is over"));
    await found.running;
    live.delete(turnId);
    return found.preview;
  };
  const over = (turnId: TurnId, inboxIds: readonly InboxId[]): void => {
    for (const id of inboxIds) unplaced.delete(id);
    dropping.delete(turnId);
    orphans.over(turnId, live.has(turnId) ? end(turnId) : null);
  };
  const listening = listen(deps.events, { begun, over, of: (turnId) => live.get(turnId)?.preview });

  return {
    expect(inboxId, channel, replyTo) {
      const spot: Spot = { channel, replyTo: replyTo ?? null };
      const turnId = unplaced.get(inboxId);
      unplaced.delete(inboxId);
      if (turnId === undefined) remember(places, inboxId, spot, MAX_EXPECTED);
      else if (!live.has(turnId)) start(turnId, spot);
    },
    async take(turnId) {
      live.get(turnId)?.cut.abort(new Error("its reply is here"));
      await end(turnId);
      await orphans.settled(turnId);
      return noteTaken(deps, turnId, true);
    },
    putBack: async (turnId) => void (await noteTaken(deps, turnId, false)),
    async drop(turnId) {
      const found = live.get(turnId);
      if (!found || (found.preview.message === null && found.preview.begunAt === null)) return;
      if (!found.ended.signal.aborted) dropping.add(turnId);
      found.cut.abort(new Error("something else is said first"));
      await end(turnId);
      await orphans.remove(turnId);
      if (dropping.delete(turnId)) start(turnId, found.preview, "off"); // Discord makes no second message under the nonce of a deleted one
    },
    forget: (turnId) => deps.facts.forget(keyOf(turnId)),
    async [Symbol.asyncDispose]() {
      for (const one of listening) one[Symbol.dispose]();
      stopping.abort(new Error("the channel is closing"));
      await Promise.all([...live.values()].map(({ running }) => running));
      await orphans[Symbol.asyncDispose]();
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
    text: "",
    tools: noTools(),
    waiting: "",
    shown: "",
    message: null,
    ...UNSENT,
  };
  return { preview, ended, cut, running: followTurn(deps, preview, mode, AbortSignal.any([ended.signal, signal])) };
}

interface Heard {
  begun(turnId: TurnId, inboxIds: readonly InboxId[]): void;
  over(turnId: TurnId, inboxIds: readonly InboxId[]): void;
  of(turnId: TurnId): LivePreview | undefined;
}

function listen(events: PreviewDeps["events"], { begun, over, of }: Heard): readonly Disposable[] {
  return [
    events.on("turn.started", ({ turnId, inboxIds }) => begun(turnId, inboxIds)),
    events.on("turn.delta", ({ turnId, text }) => {
      const preview = of(turnId);
      if (!preview) return;
      preview.text += text;
      preview.waiting = "";
    }),
    events.on("turn.waiting", ({ turnId, text }) => {
      const preview = of(turnId);
      if (preview) preview.waiting = text;
    }),
    events.on("turn.tool", ({ turnId, ...call }) => {
      const preview = of(turnId);
      if (!preview) return;
      noteTool(preview.tools, call);
      preview.waiting = "";
    }),
    events.on("turn.ended", ({ turnId, inboxIds }) => over(turnId, inboxIds)),
  ];
}

async function noteTaken({ facts }: PreviewDeps, turnId: TurnId, taken: boolean): Promise<KnownPreview | null> {
  const known = await readPreview(facts, turnId);
  if (known && known.taken !== taken) await notePreview(facts, turnId, { ...known, taken });
  return known;
}

/** The turn began again: what was shown so far is void. */
function restart(preview: LivePreview): void {
  preview.text = "";
  preview.tools = noTools();
  preview.waiting = "";
}
