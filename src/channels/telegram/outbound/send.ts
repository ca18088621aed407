/** How one message of a reply part is sent to Telegram: as text, into the preview, as a file or as an album. */
import { SendError } from "../../../contracts/channel.ts";
import type { InboundFiles } from "../../../contracts/channels/platform.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { ChatCooldowns } from "../api/chat-cooldowns.ts";
import { isRefused, toSendError } from "../api/faults.ts";
import type { PartPlatform, SendingPiece } from "../../kit/index.ts";
import type { Chunk } from "../render/split.ts";
import { sendAlbum } from "./album.ts";
import { sendFile } from "./file.ts";
import { editText, sendText } from "./message-calls.ts";
import { type Step, stepsOf } from "./plan.ts";

interface SenderDeps {
  readonly api: BotApi;
  readonly cooldowns: ChatCooldowns;
  readonly files: Pick<InboundFiles, "read">;
}

/** Two messages with the same key look the same. */
export const chunkKey = ({ text, entities }: Chunk): string => JSON.stringify([text, entities]);

export const GONE = /upgraded to a supergroup|message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;
export const UNCHANGED = /message is not modified/i;

export function telegramParts(deps: SenderDeps): PartPlatform<Step> {
  const { cooldowns } = deps;
  return {
    check({ chat }) {
      const retryAfterMs = cooldowns.leftMs(chat);
      if (retryAfterMs > 0) throw new SendError("limited", "Telegram has paused this chat", { retryAfterMs });
    },
    piecesOf: async ({ message }, hasPreview) => stepsOf(message, hasPreview),
    send: (sending, signal) => runStep(deps, sending, signal),
    toSendError: (error, { to }) => toSendError(cooldowns.note(to.chat, error)),
  };
}

async function runStep(
  deps: SenderDeps,
  { part, piece: step, at, preview }: SendingPiece<Step>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { to } = part;
  const replyTo = at === 0 ? Number(part.message.replyTo) : null;
  if (step.kind === "file") return [await sendFile(deps, { ...step, to, replyTo }, signal)];
  if (step.kind === "album") return sendAlbum(deps, { ...step, to, replyTo }, signal);
  const { chunk } = step;
  if (preview?.shown === chunkKey(chunk)) return [preview.message]; // Telegram answers 400 to an edit that changes nothing
  if (preview && (await writeInto(deps, { chat: to.chat, messageId: preview.message }, chunk, signal)))
    return [preview.message];
  return [await sendText(deps.api, { to, chunk, replyTo }, signal)];
}

/** False: the preview is not there any more, so the text needs a message of its own. */
async function writeInto(
  { api, cooldowns }: SenderDeps,
  message: { readonly chat: string; readonly messageId: string },
  chunk: Chunk,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await editText(api, message, chunk, signal);
    return true;
  } catch (error) {
    if (isRefused(error, UNCHANGED)) return true;
    if (isRefused(error, GONE)) return false;
    throw toSendError(cooldowns.note(message.chat, error), true);
  }
}
