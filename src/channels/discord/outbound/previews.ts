/** Previews on Discord, sent under the nonce of the reply that they become. When they are sent, edited and removed is in channels/kit. */
import type { API } from "@discordjs/core";
import type { PreviewFailure, PreviewPlatform } from "../../kit/index.ts";
import { failureOf, isGone } from "./failure.ts";
import { firstPartOf, nonceOf } from "./nonce.ts";
import { previewText } from "./preview-text.ts";
import { channelOf, DEDUPE_MS, replyField } from "./send.ts";

const FIRST_MS = 1_000;
/** Discord limits edits to about one a second. */
const GAP_MS = 1_200;
const TYPING_MS = 8_000;
/** The start is soon enough for Discord to know the nonce still; a reply that was to come has come after a minute, or waits in the outbox. */
const REMOVAL = { startMs: 20_000, againMs: 60_000, maxTries: 30 };
const SUPPRESS_NOTIFICATIONS = 1 << 12;

export function discordPreviews({ channels }: Pick<API, "channels">): PreviewPlatform<string> {
  const nonceFor = (turnId: string) => ({ nonce: nonceOf(firstPartOf(turnId), 0), enforce_nonce: true });
  return {
    firstMs: FIRST_MS,
    typingMs: TYPING_MS,
    gapMs: () => GAP_MS,
    removal: REMOVAL,
    repeat: {
      dedupeMs: DEDUPE_MS,
      /** Sent under its nonce once more, it is the message that is there already, or a silent one that is removed at once. */
      async find(turnId, where, signal) {
        const asked = { content: "…", flags: SUPPRESS_NOTIFICATIONS, ...nonceFor(turnId) };
        try {
          return (await channels.createMessage(where, asked, { signal })).id;
        } catch (error) {
          if (isGone(error)) return null; // somebody else has deleted it
          throw error;
        }
      },
    },
    contentOf: (view, mode) => previewText(view, mode) || null,
    keyOf: (content) => content,
    where: channelOf,
    cooldownMs: () => 0,
    async send(turnId, { to, replyTo }, content, signal) {
      const { nonce, enforce_nonce } = nonceFor(turnId);
      const body = { content, nonce, enforce_nonce, ...replyField(replyTo) };
      return (await channels.createMessage(channelOf(to), body, { signal })).id;
    },
    async edit({ where, message }, content, signal) {
      await channels.editMessage(where, message, { content }, { signal });
    },
    async remove({ where, message }, signal) {
      await channels.deleteMessage(where, message, { signal });
    },
    type: (to, signal) => channels.showTyping(channelOf(to), { signal }),
    failureOf: previewFailure,
  };
}

/** A message that is gone is no reason to send another: Discord makes none under the nonce of a deleted one. */
function previewFailure(error: unknown): PreviewFailure {
  const failure = failureOf(error);
  if (failure.kind === "refused" || failure.kind === "token") return { kind: "refused" };
  if (failure.kind === "lost") return failure;
  return { kind: "later", pauseMs: failure.kind === "limited" ? failure.retryAfterMs : 0 };
}
