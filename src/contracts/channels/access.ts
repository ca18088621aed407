/** Who may write to a channel, as its settings say it: the same keys on every platform, whoever brings it. */
import type { Role } from "../ids.ts";

/** The keys that platforms share. An account may say its own; what it leaves out holds for all of them. */
export interface ChannelAccessSettings {
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly groupPolicy?: "allowlist" | "open" | "disabled" | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupContext?: GroupContextSettings | undefined;
  /** A reaction of a person to a message of the assistant begins a turn. */
  readonly wakeOnReaction?: boolean | undefined;
  readonly groups?: Readonly<Record<string, GroupSettings>> | undefined;
  readonly guilds?: Readonly<Record<string, GuildSettings>> | undefined;
  readonly accounts?: Readonly<Record<string, ChannelAccessSettings>> | undefined;
}

/** How much of what a group says without a mention the assistant gets to read with the next mention. */
export interface GroupContextSettings {
  /** 0: nothing is kept. */
  readonly messages: number;
  readonly minutes: number;
  readonly chars: number;
}

export interface GroupSettings {
  readonly requireMention?: boolean | undefined;
  /** Instead of `groupContext.messages` of the channel. */
  readonly contextMessages?: number | undefined;
  readonly allowFrom?: readonly string[] | undefined;
  readonly role?: Role | undefined;
}

/** A place of several chats. `channels`: only in these. */
export interface GuildSettings extends GroupSettings {
  readonly channels?: readonly string[] | undefined;
}
