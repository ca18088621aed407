/** What can be done to a message that is there: react, change, withdraw, pin. Only our own are changed or withdrawn; Telegram is asked whose it is. */
import type { ActionResult, Channel, MessageTarget } from "../../../contracts/channel.ts";
import type { BotApi } from "../api/bot-api.ts";
import { faultOf, isRefused } from "../api/faults.ts";
import { renderCaption, renderText } from "../render/render.ts";
import { captionFields, editText, messageAt } from "./message-calls.ts";
import { UNCHANGED } from "./send.ts";

type Abilities = Required<Pick<Channel, "react" | "edit" | "delete" | "pin">>;

/** Telegram lets a bot react with one emoji to a message. A new one takes its place. */
const MAX_REACTIONS = 1;
const DONE: ActionResult = { kind: "done" };
const refused = (because: string): ActionResult => ({ kind: "refused", because });
const TOO_LONG = refused("The new text is longer than one message on Telegram can be.");
const NO_TEXT = refused("That message has no text that could be edited.");
const NOT_OURS = refused("There is no message of yours with that id in this chat, or it is too old to be changed.");

export function actionsOf(api: BotApi): Abilities {
  const changed = async (target: MessageTarget, text: string, signal: AbortSignal): Promise<ActionResult> => {
    const [chunk, ...more] = renderText({ text });
    if (!chunk) return refused("A message cannot be changed to nothing. Delete it instead.");
    if (more.length > 0) return TOO_LONG;
    const edited = await attempt(() =>
      editText(api, { chat: target.to.chat, messageId: target.messageId }, chunk, signal),
    );
    return edited === NO_TEXT ? captioned(target, text, signal) : edited;
  };
  /** The words under a file are a caption, and edited as one. */
  const captioned = async (target: MessageTarget, text: string, signal: AbortSignal): Promise<ActionResult> => {
    const caption = renderCaption({ text });
    if (!caption) return TOO_LONG;
    const edited = { chat_id: target.to.chat, message_id: Number(target.messageId), ...captionFields(caption) };
    return attempt(() => api.call("editMessageCaption", edited, signal));
  };
  return {
    edit: (target, text, signal) => known(target, () => changed(target, text, signal)),
    delete: (target, signal) =>
      known(target, async () => {
        if (!(await isOurs(api, target, signal))) return NOT_OURS;
        return attempt(() => api.call("deleteMessage", where(target), signal));
      }),
    react: (target, { emoji, remove }, signal) =>
      known(target, async () => {
        const shown = remove ? [] : emoji.slice(0, MAX_REACTIONS);
        const reaction = shown.map((one) => ({ type: "emoji" as const, emoji: one as never }));
        const result = await attempt(() => api.call("setMessageReaction", { ...where(target), reaction }, signal));
        return result.kind === "done" ? { kind: "done", reactions: shown } : result;
      }),
    pin: (target, unpin, signal) =>
      known(target, () => {
        if (unpin) return attempt(() => api.call("unpinChatMessage", where(target), signal));
        return attempt(() => api.call("pinChatMessage", { ...where(target), disable_notification: true }, signal));
      }),
  };
}

const where = ({ to, messageId }: MessageTarget) => messageAt(to.chat, messageId);

async function known({ messageId }: MessageTarget, act: () => Promise<ActionResult>): Promise<ActionResult> {
  return /^[1-9][0-9]{0,14}$/.test(messageId) ? act() : NOT_OURS;
}

/** A bot may delete what others wrote, but never change it: whoever is allowed to change its (missing) buttons has written it. */
async function isOurs(api: BotApi, target: MessageTarget, signal: AbortSignal): Promise<boolean> {
  try {
    await api.call("editMessageReplyMarkup", where(target), signal);
    return true;
  } catch (error) {
    if (isRefused(error, UNCHANGED)) return true;
    if (isRefused(error, /./)) return false;
    throw error;
  }
}

async function attempt(act: () => Promise<unknown>): Promise<ActionResult> {
  try {
    await act();
    return DONE;
  } catch (error) {
    if (isRefused(error, UNCHANGED)) return DONE;
    if (isRefused(error, /not found|can't be edited|MESSAGE_ID_INVALID/i)) return NOT_OURS;
    if (isRefused(error, /there is no text in the message to edit/i)) return NO_TEXT;
    if (isRefused(error, /REACTION_INVALID/i)) return refused("Telegram does not know this emoji as a reaction.");
    if (isRefused(error, /not enough rights/i)) return refused("The bot is not allowed to do that in this chat.");
    const { info, message } = faultOf(error);
    if (info.kind === "refused") return refused(`Telegram refused it: ${message}.`);
    throw error;
  }
}
