/** One turn while it is answered: its "typing", and its message, sent once and edited from then on. The newest text wins. */
import type { TurnId } from "../../contracts/ids.ts";
import type { LeftPreviewDeps } from "./left-previews.ts";
import { forgetNote, type PreviewNote, readNote, writeNote } from "./preview-notes.ts";
import { isInDoubt, type PreviewPlatform, type PreviewSpot } from "./preview-platform.ts";
import type { StreamMode, TurnView } from "./turn-views.ts";

export interface LivePreview extends TurnView, PreviewSpot {
  readonly turnId: TurnId;
  /** Ends a call that is under way. The end of the turn does not: the message that the call makes must be known, or nobody could remove it. */
  readonly calls: AbortSignal;
  note: PreviewNote | null;
  /** What the platform shows, as its `keyOf` names it; null: not known. */
  shown: string | null;
  /** The answer to a send of it was lost. */
  isLost: boolean;
}

interface Followed {
  readonly preview: LivePreview;
  readonly mode: StreamMode;
}

/** How soon it is looked again whether what was said before has been delivered. */
const OWED_MS = 300;

/** Until the signal aborts. */
export async function followTurn<Content>(
  deps: LeftPreviewDeps,
  platform: PreviewPlatform<Content>,
  { preview, mode }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const typing = type(deps, platform, preview, signal);
  try {
    if (mode !== "off") await follow(deps, platform, { preview, mode }, signal);
  } finally {
    await typing;
  }
}

/** As long as there is nothing to read. Never rejects. */
async function type(
  { clock, log }: LeftPreviewDeps,
  platform: Pick<PreviewPlatform<unknown>, "typingMs" | "cooldownMs" | "type" | "failureOf">,
  preview: LivePreview,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (!preview.note?.message && platform.cooldownMs(preview.to) === 0)
      await platform.type(preview.to, signal).catch((error: unknown) => {
        if (!signal.aborted) log.debug("typing not shown", { kind: platform.failureOf(error, preview.to).kind });
      });
    await clock.sleep(platform.typingMs, signal).catch(() => undefined); // the end of the turn is the normal end
  }
}

async function follow<Content>(
  deps: LeftPreviewDeps,
  platform: PreviewPlatform<Content>,
  { preview, mode }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps;
  const { to, turnId } = preview;
  preview.note = await readNote(deps.facts, turnId); // of an attempt that a previous process made
  let pauseMs = platform.firstMs;
  for (;;) {
    await clock.sleep(Math.max(pauseMs, platform.cooldownMs(to)), signal).catch(() => undefined); // the end of the turn is the normal end
    if (signal.aborted) return;
    if (preview.note && isInDoubt(platform, preview.note, clock.now()))
      return log.warn("preview in doubt: it may be shown without an end", { turnId }); // another one would make it two
    if (preview.note && preview.note.where !== platform.where(to)) preview.note = null;
    const isEarly = !preview.note?.message && deps.replies.owes(to);
    pauseMs = isEarly ? OWED_MS : platform.gapMs(preview);
    const content = isEarly ? null : platform.contentOf(preview, mode);
    if (content === null || platform.keyOf(content) === preview.shown || !deps.replies.isHeld()) continue;
    const next = await show(deps, platform, preview, content);
    if (next === null) return;
    pauseMs = Math.max(pauseMs, next);
  }
}

/** Resolves with the pause that has to follow at least; null: there is no more to show. Rejects when nothing can be written down. */
async function show<Content>(
  { clock, log, facts, replies }: LeftPreviewDeps,
  platform: PreviewPlatform<Content>,
  preview: LivePreview,
  content: Content,
): Promise<number | null> {
  const { turnId, to, calls } = preview;
  const where = platform.where(to);
  const message = preview.note?.message ?? null;
  if (preview.note === null) {
    const begun = { to, where, message: null, begunAt: clock.now(), taken: false };
    await writeNote(facts, turnId, begun);
    preview.note = begun;
    if (!replies.isHeld()) await forget(facts, preview); // the process froze over it, and nothing was sent
  }
  const { note } = preview;
  if (note === null) return 0;
  try {
    if (message !== null) await platform.edit({ where, message }, content, calls);
    else preview.note = { ...note, message: await platform.send(turnId, preview, content, calls) };
    preview.shown = platform.keyOf(content);
  } catch (error) {
    if (calls.aborted) return null;
    const failure = platform.failureOf(error, to);
    preview.shown = failure.kind === "unchanged" ? platform.keyOf(content) : null;
    if (failure.kind === "unchanged") return 0;
    log.debug("preview not shown", { kind: failure.kind });
    preview.isLost ||= failure.kind === "lost" && message === null;
    const isNotThere = failure.kind === "gone" || (message === null && !preview.isLost);
    if (isNotThere) await forget(facts, preview);
    if (failure.kind === "refused") return null; // the reply itself will say so
    return failure.kind === "later" ? failure.pauseMs : 0;
  }
  if (message === null) await writeNote(facts, turnId, preview.note);
  return 0;
}

async function forget(facts: LeftPreviewDeps["facts"], preview: LivePreview): Promise<void> {
  preview.note = null;
  await forgetNote(facts, preview.turnId).catch(() => undefined); // a doubt too many does no harm
}
