/** Messages with buttons on Telegram: a text of any length with the buttons below its end, and how the buttons go. */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { BotApi } from "../api/bot-api.ts";
import { type ButtonMarkup, messageAt, sendText } from "../outbound/message-calls.ts";
import { MAX_TEXT_UNITS } from "../render/render.ts";
import type { Run } from "../render/runs.ts";
import { splitRuns } from "../render/split.ts";

/** One button below the other; `data` gets the number of the button. */
export function keyboard(labels: readonly string[], data: (at: number) => string): ButtonMarkup {
  return { inline_keyboard: labels.map((text, at) => [{ text, callback_data: data(at) }]) };
}

/** Resolves with the last message, which has the buttons. */
export async function postWithButtons(
  api: BotApi,
  to: ChatAddress,
  { runs, markup }: { readonly runs: readonly Run[]; readonly markup: ButtonMarkup },
  signal: AbortSignal,
): Promise<{ readonly messageId: string; readonly text: string }> {
  const chunks = splitRuns(runs, MAX_TEXT_UNITS);
  let last = { messageId: "", text: "" };
  for (const [at, chunk] of chunks.entries()) {
    const message = at === chunks.length - 1 ? { to, chunk, markup } : { to, chunk };
    last = { messageId: await sendText(api, message, signal), text: chunk.text };
  }
  return last;
}

export async function removeButtons(api: BotApi, chat: string, messageId: string, signal: AbortSignal): Promise<void> {
  await api.call("editMessageReplyMarkup", messageAt(chat, messageId), signal).catch(() => undefined); // a press has no effect any more, whatever is shown
}
