/** Discord as a platform: what the gateway opens. Loading its libraries takes half a second, which only those pay who use it. */
import type { Platform } from "../../contracts/channels/platform.ts";
import { CHANNEL, type DiscordSettings } from "./settings.ts";

export function createDiscord(settings: DiscordSettings): Platform {
  return {
    id: CHANNEL,
    async open(deps, signal) {
      const { openDiscord } = await import("./open-channel.ts");
      signal.throwIfAborted();
      return [openDiscord({ ...deps, log: deps.log.child({ channel: CHANNEL }) }, settings)];
    },
  };
}
