/** Previews on Telegram. When they are sent, edited and removed is in channels/kit. */
import type { BotApi } from "../api/bot-api.ts";
import type { ChatCooldowns } from "../api/chat-cooldowns.ts";
import { faultOf, isRefused } from "../api/faults.ts";
import type { MovedChats } from "../api/moved-chats.ts";
import type { PreviewFailure, PreviewPlatform } from "../../kit/index.ts";
import type { Chunk } from "../render/split.ts";
import { editText, messageAt, sendText, targetOf } from "./message-calls.ts";
import { previewOf } from "./preview-text.ts";
import { chunkKey, GONE, UNCHANGED } from "./send.ts";

interface TelegramPreviewDeps {
  readonly api: BotApi;
  readonly cooldowns: ChatCooldowns;
  readonly moved: Pick<MovedChats, "now">;
}

const EDIT_MS = 1_000;
/** Groups have a smaller allowance, and more readers who are not asked. */
const GROUP_EDIT_MS = 3_000;
const FIRST_MS = 700;
/** Telegram shows it for five seconds. */
const TYPING_MS = 4_500;
const REMOVAL = { startMs: 30_000, againMs: 120_000, maxTries: 15 };

export function telegramPreviews({ api, cooldowns, moved }: TelegramPreviewDeps): PreviewPlatform<Chunk> {
  return {
    firstMs: FIRST_MS,
    typingMs: TYPING_MS,
    gapMs: ({ replyTo }) => (replyTo === null ? EDIT_MS : GROUP_EDIT_MS),
    removal: REMOVAL,
    repeat: null, // a second send would be a second message
    contentOf: (view, mode) => previewOf(mode, view),
    keyOf: chunkKey,
    where: ({ chat }) => moved.now(chat),
    cooldownMs: ({ chat }) => cooldowns.leftMs(chat),
    send: (_turnId, { to, replyTo }, chunk, signal) =>
      sendText(api, { to, chunk, replyTo: replyTo === null ? null : Number(replyTo), silent: true }, signal),
    edit: ({ where, message }, chunk, signal) => editText(api, { chat: where, messageId: message }, chunk, signal),
    async remove({ where, message }, signal) {
      await api.call("deleteMessage", messageAt(where, message), signal);
    },
    async type(to, signal) {
      await api.call("sendChatAction", { ...targetOf(to), action: "typing" }, signal);
    },
    failureOf: (error, { chat }) => failureOf(cooldowns.note(chat, error)),
  };
}

function failureOf(error: unknown): PreviewFailure {
  if (isRefused(error, UNCHANGED)) return { kind: "unchanged" };
  if (isRefused(error, GONE)) return { kind: "gone" };
  const { info } = faultOf(error);
  if (info.kind === "refused" || info.kind === "lost") return { kind: info.kind };
  return { kind: "later", pauseMs: info.kind === "limited" ? info.retryAfterMs : 0 };
}
