/** What can be done to messages in a chat: change and take back our own, react, pin, read what was said. */
import type { API } from "@discordjs/core";
import type { ActionResult, Channel, HistoryMessage, MessageTarget } from "../../../contracts/channel.ts";
import { type Failure, failureOf, toRefusal } from "./failure.ts";
import { channelOf } from "./send.ts";
import { isSnowflake } from "../settings.ts";
import { MAX_MESSAGE_CHARS, renderMessage } from "../text/render.ts";

export interface ActionDeps {
  readonly api: API;
  /** The id of the bot itself; null before it signed in. */
  me(): string | null;
  /** What Discord calls a message that may be named by our own id of it. */
  numberOf(messageId: string): string;
}

const MAX_PAGE = 100;
const DONE: ActionResult = { kind: "done" };
const NO_SUCH: ActionResult = { kind: "refused", because: "There is no message with that id in this chat." };
const NOT_OURS: ActionResult = { kind: "refused", because: "Only your own messages can be changed or deleted." };
const TOO_LONG: ActionResult = {
  kind: "refused",
  because: `That is too long: a message has at most ${MAX_MESSAGE_CHARS} characters.`,
};

export function discordActions(
  deps: ActionDeps,
): Required<Pick<Channel, "edit" | "delete" | "react" | "pin" | "history">> {
  const { channels } = deps.api;
  return {
    edit: (target, text, signal) =>
      onMessage(deps, target, async (channel, message) => {
        const [content, ...more] = renderMessage({ text });
        if (content === undefined) return { kind: "refused", because: "There is nothing in it. Delete it instead." };
        if (more.length > 0) return TOO_LONG;
        await channels.editMessage(channel, message, { content }, { signal });
        return DONE;
      }),
    delete: (target, signal) =>
      onMessage(deps, target, async (channel, message) => {
        // with the right permission a bot could take back what others said
        const { author } = await channels.getMessage(channel, message, { signal });
        if (author.id !== deps.me()) return NOT_OURS;
        await channels.deleteMessage(channel, message, { signal });
        return DONE;
      }),
    react: (target, { emoji, remove }, signal) =>
      onMessage(deps, target, async (channel, message) => {
        for (const one of emoji) {
          if (remove) await channels.deleteOwnMessageReaction(channel, message, one, { signal });
          else await channels.addMessageReaction(channel, message, one, { signal });
        }
        return DONE;
      }),
    pin: (target, unpin, signal) =>
      onMessage(deps, target, async (channel, message) => {
        if (unpin) await channels.unpinMessage(channel, message, { signal });
        else await channels.pinMessage(channel, message, { signal });
        return DONE;
      }),
    async history({ to }, { limit, before }, signal) {
      if (before !== undefined && !isSnowflake(before))
        return { kind: "refused", because: "There is no message with the id of `before` in this chat." };
      const query = { limit: Math.min(limit, MAX_PAGE), ...(before === undefined ? {} : { before }) };
      try {
        const found = await channels.getMessages(channelOf(to), query, { signal });
        return { kind: "read", messages: found.toReversed().map((message) => toHistory(message, deps.me())) };
      } catch (error) {
        return refused(error) as { kind: "refused"; because: string };
      }
    },
  };
}

async function onMessage(
  { numberOf }: ActionDeps,
  { to, messageId }: MessageTarget,
  run: (channel: string, message: string) => Promise<ActionResult>,
): Promise<ActionResult> {
  const number = numberOf(messageId);
  if (!isSnowflake(number)) return NO_SUCH;
  try {
    return await run(channelOf(to), number);
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

type ReadMessage = Awaited<ReturnType<API["channels"]["getMessage"]>>;

function toHistory({ id, author, content, timestamp, attachments }: ReadMessage, me: string | null): HistoryMessage {
  return {
    id,
    from: author.id === me ? "assistant" : "person",
    name: author.global_name ?? author.username,
    text: content,
    at: Date.parse(timestamp),
    files: attachments.map(({ filename }) => filename),
  };
}
