/**
 * Channels: translation between a platform and the gateway, one folder per platform. This door holds what is common to all of them:
 * the set of channels that are open, by id, and the opening and closing of platforms. No routing, no policy, no queueing here.
 */
import type { Channel } from "../contracts/channel.ts";
import type { Platforms } from "./open-platforms.ts";
import type { ChannelHealth } from "./switchboard.ts";

export { createPlatforms, type PlatformEntry, type Platforms } from "./open-platforms.ts";
export type { ChannelHealth } from "./switchboard.ts";

export interface ChannelSet {
  get(id: string): Channel | undefined;
  /** One line for each connected account. */
  health(): readonly ChannelHealth[];
}

/** `own`: served by the gateway itself, there from start to stop. The platforms come and go. */
export function createChannelSet(
  own: readonly Channel[],
  platforms: () => Pick<Platforms, "channel" | "health"> | null = () => null,
): ChannelSet {
  const known = new Map(own.map((channel) => [channel.id, channel]));
  return {
    get: (id) => known.get(id) ?? platforms()?.channel(id),
    health: () => [
      ...own.map((channel) => ({ id: channel.id, ...channel.health() })),
      ...(platforms()?.health() ?? []),
    ],
  };
}
