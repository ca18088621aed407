/** One answer while it is being written: "typing" until there is something to read, then one message, sent once and edited from then on. */
import type { API } from "@discordjs/core";
import type { PlatformDeps } from "../../../contracts/channels/platform.ts";
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { Events } from "../../../contracts/events.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { type AccountState, previewKey, type StreamMode, type TurnView } from "../../kit/index.ts";
import { failureOf } from "./failure.ts";
import { firstPartOf, nonceOf } from "./nonce.ts";
import { previewText } from "./preview-text.ts";
import { replyField } from "./send.ts";

export interface PreviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly facts: AccountState;
  readonly api: API;
  readonly owes: PlatformDeps["owes"];
  /** Where a channel is, as replies are addressed. */
  addressOf(channel: string): ChatAddress;
}

export interface LivePreview extends TurnView {
  readonly turnId: TurnId;
  readonly channel: string;
  /** In a server the preview replies to this message, because it becomes the answer. */
  readonly replyTo: string | null;
  /** Ends a call that is under way. The end of the turn does not: the message that it makes must be known, or nobody could take it away. */
  readonly calls: AbortSignal;
  shown: string;
  message: string | null;
  /** When its message was first sent, whether it arrived or not. */
  begunAt: number | null;
  /** The answer to a send of it was lost. */
  lost: boolean;
}

const FIRST_MS = 1_000;
/** Discord limits edits to about one a second. */
const GAP_MS = 1_200;
const TYPING_MS = 8_000;

const BEGUN = "begun@";

/**
 * What is known of a preview after a restart. `begun`: it may be shown, and which message it is nobody knows. `taken`: its reply was on the way
 * into it, and may stand there although nobody heard so: it is no preview any more.
 */
export type KnownPreview = { readonly channel: string; readonly taken: boolean } & (
  { readonly kind: "shown"; readonly message: string } | { readonly kind: "begun"; readonly at: number }
);
const TAKEN = "taken";

export async function notePreview(facts: AccountState, turnId: TurnId, known: KnownPreview): Promise<void> {
  const what = known.kind === "shown" ? known.message : `${BEGUN}${known.at}`;
  const parts = [known.channel, what, ...(known.taken ? [TAKEN] : [])];
  await facts.put(previewKey(turnId), parts.join("/"));
}

export async function readPreview(facts: AccountState, turnId: TurnId): Promise<KnownPreview | null> {
  const known = await facts.get(previewKey(turnId));
  const [channel, message, mark] = known?.split("/") ?? [];
  if (!channel || !message) return null;
  const about = { channel, taken: mark === TAKEN };
  if (message.startsWith(BEGUN)) return { ...about, kind: "begun", at: Number(message.slice(BEGUN.length)) };
  return { ...about, kind: "shown", message };
}

/** Until the signal; never rejects. */
export async function followTurn(
  deps: PreviewDeps,
  preview: LivePreview,
  mode: StreamMode,
  signal: AbortSignal,
): Promise<void> {
  const followed = follow(deps, preview, mode, signal).catch((error: unknown) => {
    deps.log.warn("preview given up", { turnId: preview.turnId, error }); // the disk, for example; the reply goes out all the same
  });
  await Promise.all([type(deps, preview, signal), followed]);
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
  const known = await readPreview(deps.facts, preview.turnId); // of an attempt that a previous process made
  if (known?.kind === "shown") preview.message = known.message;
  let pauseMs = FIRST_MS;
  for (;;) {
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined); // as above
    if (signal.aborted) return;
    pauseMs = GAP_MS;
    if (preview.message === null && deps.owes(deps.addressOf(preview.channel))) continue;
    const wanted = previewText(preview, mode);
    if (wanted === "" || wanted === preview.shown) continue;
    try {
      await show(deps, preview, wanted);
    } catch (error) {
      if (preview.calls.aborted) return;
      const failure = failureOf(error);
      deps.log.debug("preview not shown", { kind: failure.kind });
      await noteFailure(deps, preview, failure.kind === "lost");
      if (failure.kind === "refused" || failure.kind === "token") return; // the reply itself will say so
      if (failure.kind === "limited") pauseMs = Math.max(GAP_MS, failure.retryAfterMs);
    }
  }
}

/** What was certainly not sent leaves no doubt behind. */
async function noteFailure({ facts }: PreviewDeps, preview: LivePreview, lost: boolean): Promise<void> {
  preview.lost ||= lost;
  if (preview.message !== null || preview.lost) return;
  preview.begunAt = null;
  await facts.forget(previewKey(preview.turnId)).catch(() => undefined); // a doubt too many does no harm
}

async function show(deps: PreviewDeps, preview: LivePreview, content: string): Promise<void> {
  const { api, facts } = deps;
  const { channel, turnId, calls: signal } = preview;
  if (preview.message !== null) {
    await api.channels.editMessage(channel, preview.message, { content }, { signal });
  } else {
    const nonce = nonceOf(firstPartOf(turnId), 0);
    // Discord knows the nonce for some minutes only; after that nobody could tell any more that there may be a message
    if (preview.begunAt === null) {
      preview.begunAt = deps.clock.now();
      await notePreview(facts, turnId, { kind: "begun", channel, at: preview.begunAt, taken: false });
    }
    const body = { content, nonce, enforce_nonce: true, ...replyField(preview.replyTo) };
    const made = await api.channels.createMessage(channel, body, { signal });
    preview.message = made.id;
    await notePreview(facts, turnId, { kind: "shown", channel, message: made.id, taken: false });
  }
  preview.shown = content;
}
