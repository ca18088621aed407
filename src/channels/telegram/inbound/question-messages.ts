/** Questions of running turns as messages with buttons, or as messages that want a reply. What a press or a reply means is decided elsewhere. */
import type {
  AskedQuestion,
  QuestionMessages,
  Questions,
  ShownQuestion,
} from "../../../contracts/channels/question.ts";
import type { Role } from "../../../contracts/ids.ts";
import type { Log } from "../../../kit/log.ts";
import type { BotApi } from "../api/bot-api.ts";
import { faultOf } from "../api/faults.ts";
import { placeOf } from "../outbound/send-target.ts";
import { MAX_TEXT_UNITS } from "../render/render.ts";
import { splitRuns } from "../render/split.ts";
import type { Arrived } from "./arrived.ts";

export interface QuestionMessageDeps {
  readonly log: Log;
  readonly api: BotApi;
  readonly questions: Pick<Questions, "answer">;
}

/** More are a list that is answered with a number. */
const MAX_BUTTONS = 20;
/** What a phone shows of a button without cutting it, in two lines. */
const MAX_LABEL_CHARS = 60;
const DATA = /^d:([A-Za-z0-9_-]{8,40}):([0-9]{1,2})$/;

/** `life`: of the account. A question that is given up is still taken away. */
export function createQuestionMessages(deps: QuestionMessageDeps, life: AbortSignal): QuestionMessages {
  return {
    maxButtons: MAX_BUTTONS,
    maxLabelChars: MAX_LABEL_CHARS,
    async show(asked, signal) {
      const { target } = placeOf(asked.to);
      const chunks = splitRuns([{ text: asked.text, styles: [] }], MAX_TEXT_UNITS);
      let messageId = "";
      for (const [at, { text }] of chunks.entries()) {
        const markup = at === chunks.length - 1 ? { reply_markup: markupOf(asked) } : {};
        const plain = { text, link_preview_options: { is_disabled: true } };
        const sent = await deps.api.call("sendMessage", { ...target, ...plain, ...markup }, signal);
        messageId = String(sent.message_id);
      }
      return { messageId, close: closer(deps, { asked, messageId, lastText: chunks.at(-1)?.text ?? "" }, life) };
    },
  };
}

/** Null: the button is not one of these. `over`: it should not be there any more. */
export function pressAnswer(
  { questions }: Pick<QuestionMessageDeps, "questions">,
  { press, sender, address }: Arrived,
  role: Role,
): { readonly say: string; readonly over: boolean } | null {
  const [, id, at] = DATA.exec(press?.data ?? "") ?? [];
  if (id === undefined) return null;
  const given = { kind: "press", at: Number(at) } as const;
  const verdict = questions.answer(id, given, { principal: sender.principal, role, at: address });
  return { say: verdict.say, over: verdict.kind === "refused" && verdict.because === "over" };
}

function markupOf({ id, labels }: AskedQuestion) {
  if (labels.length === 0) return { force_reply: true as const };
  return { inline_keyboard: labels.map((text, at) => [{ text, callback_data: `d:${id}:${at}` }]) };
}

interface Closing {
  readonly asked: AskedQuestion;
  readonly messageId: string;
  readonly lastText: string;
}

/** Telegram lets a message be changed that has buttons, and none that wants a reply: there the end is a message of its own. */
function closer(
  { api, log }: QuestionMessageDeps,
  { asked, messageId, lastText }: Closing,
  life: AbortSignal,
): ShownQuestion["close"] {
  const here = { chat_id: asked.to.chat, message_id: Number(messageId) };
  const after = async ({ answered, words }: Parameters<ShownQuestion["close"]>[0]): Promise<void> => {
    if (asked.labels.length === 0) {
      if (answered) return;
      const { target } = placeOf(asked.to);
      const reply = { message_id: here.message_id, allow_sending_without_reply: true };
      await api.call("sendMessage", { ...target, text: words, reply_parameters: reply }, life);
      return;
    }
    const text = `${lastText}\n\n${words}`;
    if (text.length <= MAX_TEXT_UNITS)
      await api.call("editMessageText", { ...here, text, link_preview_options: { is_disabled: true } }, life);
    else await api.call("editMessageReplyMarkup", here, life);
  };
  return (end) =>
    after(end).catch((error: unknown) => log.debug("question left as it was", { because: faultOf(error).message }));
}
