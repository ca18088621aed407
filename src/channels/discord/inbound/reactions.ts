/** A reaction on Discord → who added or took away what under which message. Pure. Null for our own and those of other bots. */
import type {
  GatewayMessageReactionAddDispatchData,
  GatewayMessageReactionRemoveDispatchData,
} from "discord-api-types/v10";
import type { ArrivedReaction } from "../../../contracts/channels/platform.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { CHANNEL } from "../settings.ts";
import type { Places } from "./threads.ts";
import { senderOf } from "./translate.ts";

export type ToldReaction = GatewayMessageReactionAddDispatchData | GatewayMessageReactionRemoveDispatchData;

export function reactionOf(
  told: ToldReaction,
  how: "add" | "remove",
  { me, places }: { readonly me: string | null; readonly places: Pick<Places, "address"> },
): ArrivedReaction | null {
  const { user_id: user, channel_id: channel, message_id: messageId, guild_id: guild, emoji } = told;
  const known = "member" in told ? told.member?.user : undefined;
  if (user === me || known?.bot || emoji.name === null) return null;
  return {
    address: places.address(channel),
    scope: guild === undefined ? "dm" : "group",
    ...(guild === undefined ? {} : { place: guild }),
    // Discord names whoever adds one in a server, and nobody else
    sender: known ? senderOf(known) : { principal: `${CHANNEL}:user:${user}` as Principal, name: "" },
    messageId,
    how,
    emoji: [emoji.id === null ? emoji.name : `:${emoji.name}:`],
  };
}
