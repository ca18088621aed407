/** One answer while it is being written: "typing" until there is something to read, then one message, sent once and edited from then on. */
import type { API } from "@discordjs/core";
import type { ChannelFacts } from "../../../contracts/channels/platform.ts";
import type { Events } from "../../../contracts/events.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { ACCOUNT, CHANNEL, type StreamMode } from "../settings.ts";
import { failureOf } from "./failure.ts";
import { firstPartOf, nonceOf } from "./nonce.ts";
import { previewText } from "./preview-text.ts";
import { NO_MENTIONS } from "./send.ts";

export interface PreviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly facts: ChannelFacts;
  readonly api: API;
}

export interface LivePreview {
  readonly turnId: TurnId;
  readonly channel: string;
  text: string;
  tools: readonly string[];
  shown: string;
  message: string | null;
}

const FIRST_MS = 1_000;
/** Discord limits edits to about one a second. */
const GAP_MS = 1_200;
const TYPING_MS = 8_000;

export const keyOf = (turnId: TurnId) => `preview:${turnId}`;

/** Until the signal; never rejects. */
export async function followTurn(
  deps: PreviewDeps,
  preview: LivePreview,
  mode: StreamMode,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([type(deps, preview, signal), follow(deps, preview, mode, signal)]);
}

/** Until there is something to read. */
async function type({ api, clock, log }: PreviewDeps, preview: LivePreview, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && preview.message === null) {
    await api.channels.showTyping(preview.channel, { signal }).catch((error: unknown) => {
      if (!signal.aborted) log.debug("typing not shown", { kind: failureOf(error).kind });
    });
    await clock.sleep(TYPING_MS, signal).catch(() => undefined); // the end of the turn is the normal end
  }
}

async function follow(deps: PreviewDeps, preview: LivePreview, mode: StreamMode, signal: AbortSignal): Promise<void> {
  if (mode === "off") return;
  let pauseMs = FIRST_MS;
  for (;;) {
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined); // as above
    if (signal.aborted) return;
    pauseMs = GAP_MS;
    const wanted = previewText(preview, mode);
    if (wanted === "" || wanted === preview.shown) continue;
    try {
      await show(deps, preview, wanted, signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = failureOf(error);
      deps.log.debug("preview not shown", { kind: failure.kind });
      if (failure.kind === "refused" || failure.kind === "token") return; // the reply itself will say so
      if (failure.kind === "limited") pauseMs = Math.max(GAP_MS, failure.retryAfterMs);
    }
  }
}

async function show(deps: PreviewDeps, preview: LivePreview, content: string, signal: AbortSignal): Promise<void> {
  const { api, facts } = deps;
  const { channel, turnId } = preview;
  if (preview.message !== null) {
    await api.channels.editMessage(channel, preview.message, { content, allowed_mentions: NO_MENTIONS }, { signal });
  } else {
    const nonce = nonceOf(firstPartOf(turnId), 0);
    const body = { content, nonce, enforce_nonce: true, allowed_mentions: NO_MENTIONS };
    const made = await api.channels.createMessage(channel, body, { signal });
    preview.message = made.id;
    await facts.put(CHANNEL, ACCOUNT, keyOf(turnId), `${channel}/${made.id}`);
  }
  preview.shown = content;
}
