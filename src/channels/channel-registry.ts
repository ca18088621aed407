/** The channels there are, by id: the gateway's own, which are registered once, and those of platforms, which come and go. */
import type { Channel } from "../contracts/channel.ts";
import type { ChannelAccessSettings } from "../contracts/channels/access.ts";
import type { Platforms } from "./open-platforms.ts";
import type { ChannelHealth } from "./switchboard.ts";

/** Of the gateway's own channels. */
const OWN_ACCOUNT = "default";

export interface ChannelRegistry {
  get(id: string): Channel | undefined;
  /** One of the gateway's own, there from now to the stop. `unlisted`: no person writes to it, and no status shows it. */
  register(channel: Channel, how?: { readonly unlisted: boolean }): void;
  registerPlatforms(platforms: Pick<Platforms, "channel" | "health" | "accountOf" | "access">): void;
  /** Whether this is one of the gateway's own. */
  isOwn(id: string): boolean;
  /** One line for each connected account. */
  health(): readonly ChannelHealth[];
  /** The account behind a line of `health`. */
  accountOf(line: string): string;
  /** Who may write to channels that no configuration names, by id. */
  access(): Readonly<Record<string, ChannelAccessSettings>>;
}

/** `wrap` is put around every channel, for who wants to know or change what goes through it. */
export function createChannelRegistry(wrap: (channel: Channel) => Channel = (channel) => channel): ChannelRegistry {
  const own = new Map<string, Channel>();
  const unlisted = new Set<string>();
  const wrapped = new WeakMap<Channel, Channel>();
  let platforms: Pick<Platforms, "channel" | "health" | "accountOf" | "access"> | null = null;

  const ofPlatform = (id: string): Channel | undefined => {
    const channel = platforms?.channel(id);
    if (!channel) return undefined;
    const known = wrapped.get(channel) ?? wrap(channel);
    wrapped.set(channel, known);
    return known;
  };
  return {
    get: (id) => own.get(id) ?? ofPlatform(id),
    register(channel, how) {
      if (own.has(channel.id)) throw new Error(`two channels are called ${channel.id}`);
      own.set(channel.id, wrap(channel));
      if (how?.unlisted) unlisted.add(channel.id);
    },
    registerPlatforms(given) {
      if (platforms) throw new Error("the platforms are registered already");
      platforms = given;
    },
    isOwn: (id) => own.has(id),
    health() {
      const listed = [...own.values()].filter(({ id }) => !unlisted.has(id));
      return [...listed.map((channel) => ({ id: channel.id, ...channel.health() })), ...(platforms?.health() ?? [])];
    },
    accountOf: (line) => platforms?.accountOf(line) ?? OWN_ACCOUNT,
    access: () => platforms?.access() ?? {},
  };
}
