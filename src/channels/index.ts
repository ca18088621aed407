/**
 * Channels: translation between a platform and the gateway, one folder per platform. This door holds what is common to all of them:
 * the set of channels that are open, by id. No routing, no policy, no queueing here.
 */
import type { Channel } from "../contracts/channel.ts";

export type ChannelSet = ReadonlyMap<string, Channel>;

export function createChannelSet(channels: readonly Channel[]): ChannelSet {
  return new Map(channels.map((channel) => [channel.id, channel]));
}
