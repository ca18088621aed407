/**
 * Channels: translation between a platform and the gateway, one folder per platform. This module holds what is common to all of them:
 * the set of channels that are open, by id, and the opening and closing of platforms. No routing, no policy, no queueing here.
 */
export { type ChannelRegistry, createChannelRegistry } from "./channel-registry.ts";
export { createPlatforms, type HoldPlatform, type PlatformEntry, type Platforms } from "./open-platforms.ts";
export { maskOut } from "./mask-out.ts";
