/** Questions of running turns on Discord, as messages with buttons. Who may answer is decided elsewhere. */
import type { API } from "@discordjs/core";
import type { QuestionMessages } from "../../../contracts/channels/question.ts";
import type { Log } from "../../../kit/log.ts";
import { failureOf } from "../outbound/failure.ts";
import { channelOf } from "../outbound/send.ts";
import { escapeMarkdown, MAX_MESSAGE_CHARS } from "../text/render.ts";
import { splitText } from "../text/split.ts";
import { GREY, MAX_BUTTONS, postWithButtons } from "./button-messages.ts";

interface QuestionMessageDeps {
  readonly log: Log;
  readonly api: API;
}

const MAX_LABEL_CHARS = 80;
/** For the sentence that says how it ended. */
const ROOM_FOR_END = 200;

/** The question and the number of its button; null: the button belongs to something else. */
export function readQuestionButton(customId: string): { readonly id: string; readonly at: number } | null {
  const [, at, id] = /^ask:([0-9]{1,2}):([A-Za-z0-9_-]{8,40})$/.exec(customId) ?? [];
  return id === undefined ? null : { id, at: Number(at) };
}

/** `life`: of the channel. A question whose asker gave up is closed all the same. */
export function createQuestionMessages({ api, log }: QuestionMessageDeps, life: AbortSignal): QuestionMessages {
  return {
    maxButtons: MAX_BUTTONS,
    maxLabelChars: MAX_LABEL_CHARS,
    async show({ id, to, text, labels }, signal) {
      const pieces = splitText(escapeMarkdown(text), MAX_MESSAGE_CHARS - ROOM_FOR_END);
      const buttons = labels.map((label, at) => ({ label, customId: `ask:${at}:${id}`, style: GREY }));
      const messageId = await postWithButtons(api, to, { id, pieces, buttons }, signal);
      return {
        messageId,
        async close({ words }) {
          const end = escapeMarkdown(words)
            .slice(0, ROOM_FOR_END - 2)
            .toWellFormed();
          const body = { content: `${pieces.at(-1) ?? ""}\n\n${end}`, components: [] };
          await api.channels
            .editMessage(channelOf(to), messageId, body, { signal: life })
            .catch((error: unknown) => log.debug("question left as it was", { kind: failureOf(error).kind }));
        },
      };
    },
  };
}
