/** Takes away what Discord shows of a turn that no reply follows, also when Discord's answer to the send was lost. */
import type { TurnId } from "../../../contracts/ids.ts";
import type { PreviewRemoval } from "../../kit/index.ts";
import { failureOf, isGone } from "./failure.ts";
import { firstPartOf, nonceOf } from "./nonce.ts";
import { type KnownPreview, notePreview, type PreviewDeps, readPreview } from "./preview-turn.ts";
import { DEDUPE_MS } from "./send.ts";

/** A reply that was to come has come by then, or waits in the outbox. */
const AGAIN_MS = 60_000;
/** Soon enough for Discord to know the nonce still. */
const START_MS = 20_000;
const MAX_TRIES = 30;
const SUPPRESS_NOTIFICATIONS = 1 << 12;

export function previewRemoval(deps: PreviewDeps): PreviewRemoval<KnownPreview> {
  return {
    startMs: START_MS,
    againMs: AGAIN_MS,
    maxTries: MAX_TRIES,
    read: (turnId) => readPreview(deps.facts, turnId),
    owes: ({ channel }) => deps.owes(deps.addressOf(channel)),
    async remove(known, turnId, signal) {
      const message = await messageOf(deps, known, turnId, signal);
      if (message !== null) await deps.api.channels.deleteMessage(known.channel, message, { signal });
    },
    isFinal: (error) => failureOf(error).kind === "refused",
  };
}

/** Which message it is. Sent under its nonce once more, it is the one that is there already, or a silent one that goes at once. */
async function messageOf(
  { api, clock, facts, log }: PreviewDeps,
  known: KnownPreview,
  turnId: TurnId,
  signal: AbortSignal,
): Promise<string | null> {
  if (known.kind === "shown") return known.message;
  if (clock.now() - known.at > DEDUPE_MS) {
    log.warn("preview in doubt: it may be shown without an end", { turnId });
    return null;
  }
  const asked = { content: "…", flags: SUPPRESS_NOTIFICATIONS };
  const name = { nonce: nonceOf(firstPartOf(turnId), 0), enforce_nonce: true };
  try {
    const found = await api.channels.createMessage(known.channel, { ...asked, ...name }, { signal });
    await notePreview(facts, turnId, { kind: "shown", channel: known.channel, message: found.id, taken: false });
    return found.id;
  } catch (error) {
    if (isGone(error)) return null; // somebody else has deleted it
    throw error;
  }
}
