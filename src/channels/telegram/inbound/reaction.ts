/** A reaction on Telegram → who reacted to which message with what. Pure. Null for bots, and for groups that react as themselves. */
import type { Update } from "grammy/types";
import type { ArrivedReaction } from "../../../contracts/channels/platform.ts";
import { type Here, senderOf } from "./arrived.ts";

export function reactionOf(
  { update_id: updateId, message_reaction: told }: Update,
  { channel, account, chatOf }: Here,
): ArrivedReaction | null {
  if (!told?.user || told.user.is_bot) return null;
  const { chat, message_id: messageId, new_reaction: now, user } = told;
  return {
    address: { channel, account, chat: chatOf(String(chat.id)) },
    scope: chat.type === "private" ? "dm" : "group",
    sender: senderOf(user),
    messageId: String(messageId),
    updateId: String(updateId),
    how: "set",
    emoji: now.map((one) => (one.type === "emoji" ? one.emoji : one.type === "paid" ? "⭐" : "(custom emoji)")),
  };
}
