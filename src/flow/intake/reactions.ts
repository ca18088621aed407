/** Reactions of people on a platform: kept with our message for the next turn, and shown. */
import type { ArrivedReaction } from "../../contracts/channels/platform.ts";
import type { Events } from "../../contracts/events.ts";
import type { MessageStore, ReactedMessage, ReactionStore } from "../../contracts/store/messages.ts";
import type { Clock } from "../../kit/clock.ts";

export interface ReactionDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly messages: Pick<MessageStore, "idOf" | "item">;
  readonly reactions: Pick<ReactionStore, "react">;
}

/** Names of custom emoji are chosen by people. */
const MAX_EMOJI_CHARS = 64;

/** For a reaction of a person with access. Null: the message is not ours, and nothing is stored. */
export async function keepReaction(deps: ReactionDeps, reaction: ArrivedReaction): Promise<ReactedMessage | null> {
  const { address, messageId, sender, how } = reaction;
  const id = await deps.messages.idOf(address, messageId);
  if (id === null) return null;
  const emoji = reaction.emoji.map((one) => one.slice(0, MAX_EMOJI_CHARS).toWellFormed());
  const row = await deps.reactions.react(id, { by: sender, how, emoji }, deps.clock.now());
  const item = row && (await deps.messages.item(id));
  if (item)
    deps.events.emit("message", { sessionKey: row.sessionKey, item: { ...item, reaction: item.reaction ?? "" } });
  return row;
}
