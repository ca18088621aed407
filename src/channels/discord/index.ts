/**
 * Discord: direct messages, servers and threads through one bot. The libraries that speak to it are loaded when the channel is opened, not
 * before.
 */
export { createDiscord } from "./plugin.ts";
export { checkDiscord } from "./probe.ts";
export type { DiscordSettings } from "./settings.ts";
