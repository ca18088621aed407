/** The settings of the channel, from what `plugins.config.irc-channel` says. The schema in plugin.json has checked their form. Pure. */
import type { ChannelAccessSettings, GroupSettings, Secret } from "pi-gateway/plugin";
import { encode, fold } from "./wire/names.ts";

export const CHANNEL = "irc";
export const ACCOUNT = "main";

export interface IrcSettings {
  readonly server: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick: string;
  /** How it signs in; null: not at all. */
  readonly login: Login | null;
  /** Only people who are signed in to the network's services exist. On a network that tells no accounts, nobody does. */
  readonly requireAccount: boolean;
  /** Looks who has a nick before something is said to it alone. */
  readonly checkRecipient: boolean;
  /** Lines that may go out at once, and the pause for each one after that. */
  readonly burst: number;
  readonly lineMs: number;
  /** Channels to be in, folded. */
  readonly channels: readonly string[];
  readonly access: ChannelAccessSettings;
}

export interface Login {
  readonly by: "sasl" | "nickserv" | "server";
  readonly account: string;
  readonly password: Secret;
}

/** As the schema leaves it: every default is filled in. */
interface Given {
  readonly server: string;
  readonly port?: number;
  readonly tls: boolean;
  readonly nick: string;
  readonly auth: Login["by"];
  readonly account?: string;
  readonly password?: Secret;
  readonly requireAccount: boolean;
  readonly checkRecipient: boolean;
  readonly burst: number;
  readonly lineMs: number;
  readonly dmPolicy: NonNullable<ChannelAccessSettings["dmPolicy"]>;
  readonly allowFrom: readonly string[];
  readonly groupPolicy: "allowlist" | "disabled";
  readonly requireMention: boolean;
  readonly groups: Readonly<Record<string, GroupSettings>>;
}

const TLS_PORT = 6697;
const PLAIN_PORT = 6667;
const THIS_MACHINE = ["localhost", "127.0.0.1", "::1"];

/** Throws with a sentence for the owner. */
export function readSettings(config: Readonly<Record<string, unknown>>): IrcSettings {
  const given = config as unknown as Given;
  const server = given.server.toLowerCase();
  const { tls, nick, requireAccount, checkRecipient, burst, lineMs, password } = given;
  if (password && !tls && !THIS_MACHINE.includes(server))
    throw new Error("A password is sent over TLS only: set tls to true, or remove the password.");
  const groups = Object.entries(given.groups).map(([name, group]) => [fold(name), withPeople(group, server)] as const);
  const channels = given.groupPolicy === "disabled" ? [] : groups.map(([name]) => name);
  return {
    ...{ server, tls, nick, requireAccount, checkRecipient, burst, lineMs, channels },
    port: given.port ?? (tls ? TLS_PORT : PLAIN_PORT),
    login: password ? { by: given.auth, account: given.account ?? nick, password } : null,
    access: {
      dmPolicy: given.dmPolicy,
      allowFrom: given.allowFrom.map((person) => principalIn(person, server)),
      groupPolicy: given.groupPolicy,
      requireMention: given.requireMention,
      groups: Object.fromEntries(groups),
    },
  };
}

function withPeople(group: GroupSettings, server: string): GroupSettings {
  const { allowFrom } = group;
  return allowFrom ? { ...group, allowFrom: allowFrom.map((person) => principalIn(person, server)) } : group;
}

/** `alice` is the account of that name on this network. Whoever is known by a mask, or from elsewhere, is written in full. */
function principalIn(person: string, server: string): string {
  return person === "*" || person.startsWith(`${CHANNEL}:user:`)
    ? person
    : `${CHANNEL}:user:${encode(server)}/${person}`;
}
