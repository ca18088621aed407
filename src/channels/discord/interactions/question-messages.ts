/** Questions of running turns as messages with buttons. What a press or a reply means is decided elsewhere. */
import type { API } from "@discordjs/core";
import type { APIMessageTopLevelComponent } from "discord-api-types/v10";
import type { AskedQuestion, QuestionMessages } from "../../../contracts/channels/question.ts";
import type { Log } from "../../../kit/log.ts";
import { failureOf } from "../outbound/failure.ts";
import { nonceOf } from "../outbound/nonce.ts";
import { channelOf } from "../outbound/send.ts";
import { escapeMarkdown, MAX_MESSAGE_CHARS } from "../text/render.ts";
import { splitText } from "../text/split.ts";

interface QuestionMessageDeps {
  readonly log: Log;
  readonly api: API;
}

const PREFIX = "ask";
const ROW = 1;
const BUTTON = 2;
const GREY = 2;
const ROW_BUTTONS = 5;
const MAX_ROWS = 5;
const MAX_LABEL_CHARS = 80;
/** For the sentence that says how it ended. */
const ROOM_FOR_END = 200;

export interface PressedAnswer {
  readonly id: string;
  readonly at: number;
}

/** Null: not one of these. */
export function readPress(customId: string): PressedAnswer | null {
  const [, at, id] = /^ask:([0-9]{1,2}):([A-Za-z0-9_-]{8,40})$/.exec(customId) ?? [];
  return id === undefined ? null : { id, at: Number(at) };
}

/** `life`: of the channel. A question that is given up is still taken away. */
export function createQuestionMessages({ api, log }: QuestionMessageDeps, life: AbortSignal): QuestionMessages {
  return {
    maxButtons: ROW_BUTTONS * MAX_ROWS,
    maxLabelChars: MAX_LABEL_CHARS,
    async show(asked, signal) {
      const channel = channelOf(asked.to);
      const pieces = splitText(escapeMarkdown(asked.text), MAX_MESSAGE_CHARS - ROOM_FOR_END);
      const last = pieces.at(-1) ?? "";
      let messageId = "";
      for (const [at, content] of pieces.entries()) {
        const body = { content, nonce: nonceOf(asked.id, at), enforce_nonce: true };
        const components = at === pieces.length - 1 ? { components: rowsOf(asked) } : {};
        const sent = await api.channels.createMessage(channel, { ...body, ...components }, { signal });
        messageId = sent.id;
      }
      return {
        messageId,
        async close({ words }) {
          const end = escapeMarkdown(words)
            .slice(0, ROOM_FOR_END - 2)
            .toWellFormed();
          const body = { content: `${last}\n\n${end}`, components: [] };
          await api.channels
            .editMessage(channel, messageId, body, { signal: life })
            .catch((error: unknown) => log.debug("question left as it was", { kind: failureOf(error).kind }));
        },
      };
    },
  };
}

function rowsOf({ id, labels }: AskedQuestion): APIMessageTopLevelComponent[] {
  const buttons = labels.map((label, at) => ({
    type: BUTTON,
    style: GREY,
    label,
    custom_id: `${PREFIX}:${at}:${id}`,
  }));
  const rows = Array.from({ length: Math.ceil(buttons.length / ROW_BUTTONS) }, (_, row) => ({
    type: ROW,
    components: buttons.slice(row * ROW_BUTTONS, (row + 1) * ROW_BUTTONS),
  }));
  return rows as APIMessageTopLevelComponent[];
}
