/** What can be done to messages in a chat: edit and delete our own, react, pin. */
import type { API } from "@discordjs/core";
import type { ActionResult, Channel, MessageTarget } from "../../../contracts/channel.ts";
import { type Failure, failureOf, toRefusal } from "./failure.ts";
import { channelOf } from "./send.ts";
import { isSnowflake } from "../settings.ts";
import { MAX_MESSAGE_CHARS, renderMessage } from "../text/render.ts";

interface ActionDeps {
  readonly api: API;
  /** The id of the bot itself; null before it signed in. */
  me(): string | null;
}

const DONE: ActionResult = { kind: "done" };
const NO_SUCH: ActionResult = { kind: "refused", because: "There is no message with that id in this chat." };
const NOT_OURS: ActionResult = { kind: "refused", because: "Only your own messages can be changed or deleted." };
const TOO_LONG: ActionResult = {
  kind: "refused",
  because: `That is too long: a message has at most ${MAX_MESSAGE_CHARS} characters.`,
};

export function discordActions(deps: ActionDeps): Required<Pick<Channel, "edit" | "delete" | "react" | "pin">> {
  const { channels } = deps.api;
  return {
    edit: (target, text, signal) =>
      onMessage(target, async (channel, message) => {
        const [content, ...more] = renderMessage({ text });
        if (content === undefined) return { kind: "refused", because: "There is nothing in it. Delete it instead." };
        if (more.length > 0) return TOO_LONG;
        await channels.editMessage(channel, message, { content }, { signal });
        return DONE;
      }),
    delete: (target, signal) =>
      onMessage(target, async (channel, message) => {
        // with the right permission a bot could withdraw what others said
        const { author } = await channels.getMessage(channel, message, { signal });
        if (author.id !== deps.me()) return NOT_OURS;
        await channels.deleteMessage(channel, message, { signal });
        return DONE;
      }),
    react: (target, { emoji, remove }, signal) =>
      onMessage(target, async (channel, message) => {
        for (const one of emoji) {
          if (remove) await channels.deleteOwnMessageReaction(channel, message, one, { signal });
          else await channels.addMessageReaction(channel, message, one, { signal });
        }
        return DONE;
      }),
    pin: (target, unpin, signal) =>
      onMessage(target, async (channel, message) => {
        if (unpin) await channels.unpinMessage(channel, message, { signal });
        else await channels.pinMessage(channel, message, { signal });
        return DONE;
      }),
  };
}

async function onMessage(
  { to, messageId }: MessageTarget,
  run: (channel: string, message: string) => Promise<ActionResult>,
): Promise<ActionResult> {
  if (!isSnowflake(messageId)) return NO_SUCH;
  try {
    return await run(channelOf(to), messageId);
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): ActionResult {
  const failure: Failure = failureOf(error);
  if (failure.kind !== "limited") return toRefusal(error);
  const seconds = Math.ceil(failure.retryAfterMs / 1_000);
  return { kind: "refused", because: `Discord wants a pause here. Try again in ${seconds} s.` };
}
