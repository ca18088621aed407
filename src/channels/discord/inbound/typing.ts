/** Somebody types on Discord → who, and where. Pure. Null for ourselves and other bots. */
import type { GatewayTypingStartDispatchData } from "discord-api-types/v10";
import type { TypingFacts } from "../../../contracts/channels/platform.ts";
import type { Principal } from "../../../contracts/ids.ts";
import { CHANNEL } from "../settings.ts";
import type { Places } from "./threads.ts";
import { senderOf } from "./translate.ts";

export function typingOf(
  { user_id: user, channel_id: channel, guild_id: guild, member }: GatewayTypingStartDispatchData,
  { me, places }: { readonly me: string | null; readonly places: Pick<Places, "address"> },
): TypingFacts | null {
  const known = member?.user;
  if (user === me || known?.bot) return null;
  return {
    address: places.address(channel),
    scope: guild === undefined ? "dm" : "group",
    ...(guild === undefined ? {} : { place: guild }),
    sender: known ? senderOf(known) : { principal: `${CHANNEL}:user:${user}` as Principal, name: "" },
  };
}
