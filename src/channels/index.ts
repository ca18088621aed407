/**
 * Channels: translation between a platform and the gateway, one folder per platform. This door holds what is common to all of them:
 * the set of channels that are open, by id. No routing, no policy, no queueing here.
 */
import { type Channel, SendError } from "../contracts/channel.ts";

export interface ChannelSet extends ReadonlyMap<string, Channel> {
  /** Throws when there is one of that id. Disposing takes it away; what is to be sent through it then waits. */
  add(channel: Channel): Disposable;
}

/** `around` is put around every channel, for who wants to know what goes through it. */
export function createChannelSet(
  channels: readonly Channel[],
  around: (channel: Channel) => Channel = (channel) => channel,
): ChannelSet {
  const open = new Map(channels.map((channel) => [channel.id, around(channel)]));
  const resting = new Set<Channel>();
  return Object.assign(open, {
    add(given: Channel): Disposable {
      const channel = around(given);
      const before = open.get(channel.id);
      if (before && !resting.delete(before)) throw new Error(`two channels are called ${channel.id}`);
      open.set(channel.id, channel);
      return {
        [Symbol.dispose]() {
          if (open.get(channel.id) !== channel) return;
          const rest = restOf(channel);
          resting.add(rest);
          open.set(channel.id, rest);
        },
      };
    },
  });
}

/** Stands where a channel was: what is to be sent through it waits until it comes back. */
function restOf({ id, repeat, canRefuse }: Channel): Channel {
  return {
    id,
    repeat,
    canRefuse,
    send: async () => {
      throw new SendError("retry", "the channel is not there");
    },
    ready: () => false,
    health: () => ({ ok: false, detail: "what brought this channel is not running" }),
  };
}
