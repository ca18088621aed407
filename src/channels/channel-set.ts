/** The channels that are open, by id: the gateway's own, and those of platforms, whoever brought them. */
import type { Channel } from "../contracts/channel.ts";
import type { Platforms } from "./open-platforms.ts";
import type { ChannelHealth } from "./switchboard.ts";

export interface ChannelSet {
  get(id: string): Channel | undefined;
  /** One line for each connected account. */
  health(): readonly ChannelHealth[];
}

export interface ChannelSetOptions {
  /** Of the gateway's own, those that no person writes to: there to be sent to, and not listed. */
  readonly inner?: readonly Channel[];
  /** Put around every channel, for who wants to know what goes through it. */
  readonly around?: (channel: Channel) => Channel;
  /** They come and go. */
  readonly platforms?: () => Pick<Platforms, "channel" | "health"> | null;
}

/** `own`: served by the gateway itself, there from start to stop. */
export function createChannelSet(
  own: readonly Channel[],
  { inner = [], around = (channel) => channel, platforms = () => null }: ChannelSetOptions = {},
): ChannelSet {
  const open = new Map([...own, ...inner].map((channel) => [channel.id, around(channel)]));
  const unlisted = new Set(inner.map(({ id }) => id));
  const wrapped = new WeakMap<Channel, Channel>();
  const ofPlatform = (id: string): Channel | undefined => {
    const channel = platforms()?.channel(id);
    if (!channel) return undefined;
    const known = wrapped.get(channel) ?? around(channel);
    wrapped.set(channel, known);
    return known;
  };
  return {
    get: (id) => open.get(id) ?? ofPlatform(id),
    health: () => [
      ...[...open.values()]
        .filter(({ id }) => !unlisted.has(id))
        .map((channel) => ({ id: channel.id, ...channel.health() })),
      ...(platforms()?.health() ?? []),
    ],
  };
}
