/** Questions of running turns on Telegram: with buttons, or as a message that wants a reply. Who may answer is decided elsewhere. */
import type { AskedQuestion, QuestionMessages, ShownQuestion } from "../../../contracts/channels/question.ts";
import type { Log } from "../../../kit/log.ts";
import type { BotApi } from "../api/bot-api.ts";
import { faultOf } from "../api/faults.ts";
import { editText, messageAt, sendText } from "../outbound/message-calls.ts";
import { MAX_TEXT_UNITS } from "../render/render.ts";
import { keyboard, postWithButtons } from "./button-messages.ts";

interface QuestionMessageDeps {
  readonly log: Log;
  readonly api: BotApi;
}

/** More are a list that is answered with a number. */
const MAX_BUTTONS = 20;
/** What a phone shows of a button without cutting it, in two lines. */
const MAX_LABEL_CHARS = 60;
const DATA = /^d:([A-Za-z0-9_-]{8,40}):([0-9]{1,2})$/;

/** The question and the number of its button; null: the button belongs to something else. */
export function readQuestionButton(data: string): { readonly id: string; readonly at: number } | null {
  const [, id, at] = DATA.exec(data) ?? [];
  return id === undefined ? null : { id, at: Number(at) };
}

/** `life`: of the account. A question whose asker gave up is closed all the same. */
export function createQuestionMessages({ api, log }: QuestionMessageDeps, life: AbortSignal): QuestionMessages {
  return {
    maxButtons: MAX_BUTTONS,
    maxLabelChars: MAX_LABEL_CHARS,
    async show(asked, signal) {
      const { id, to, text, labels } = asked;
      const markup = labels.length === 0 ? { force_reply: true as const } : keyboard(labels, (at) => `d:${id}:${at}`);
      const until = AbortSignal.any([signal, life]);
      const posted = await postWithButtons(api, to, { runs: [{ text, styles: [] }], markup }, until);
      return {
        messageId: posted.messageId,
        close: (end) =>
          close(api, { asked, ...posted }, end, life).catch((error: unknown) =>
            log.debug("question left as it was", { because: faultOf(error).message }),
          ),
      };
    },
  };
}

interface Posted {
  readonly asked: AskedQuestion;
  readonly messageId: string;
  readonly text: string;
}

/** Telegram lets a message with buttons be edited, but none that wants a reply: there the end is a message of its own. */
async function close(
  api: BotApi,
  { asked, messageId, text }: Posted,
  { answered, words }: Parameters<ShownQuestion["close"]>[0],
  life: AbortSignal,
): Promise<void> {
  const { to, labels } = asked;
  if (labels.length === 0) {
    if (!answered) await sendText(api, { to, chunk: { text: words, entities: [] }, replyTo: Number(messageId) }, life);
    return;
  }
  const ended = { text: `${text}\n\n${words}`, entities: [] };
  if (ended.text.length <= MAX_TEXT_UNITS) await editText(api, { chat: to.chat, messageId }, ended, life);
  else await api.call("editMessageReplyMarkup", messageAt(to.chat, messageId), life);
}
