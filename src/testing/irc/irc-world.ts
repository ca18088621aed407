/** The IRC channel of examples/ beside a real ngircd, as the channel contract sees it: opened the way the gateway opens what a plugin brings. */
import { readSettings } from "../../../examples/irc-channel/config.ts";
import { createIrc } from "../../../examples/irc-channel/plugin.ts";
import { createPlatforms } from "../../channels/index.ts";
import type { Config } from "../../config/index.ts";
import type { PlatformDeps } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";
import { channelBench } from "../channels/channel-bench.ts";
import { type ChannelWorld, eventually, type PlatformUpdate, type Trouble } from "../contracts/channel-contract.ts";
import { type IrcPerson, joinIrc } from "./irc-client.ts";
import { type IrcServer, startIrcServer } from "./ngircd.ts";
import { tapWire, type WireTap } from "./wire-tap.ts";

interface IrcWorld extends ChannelWorld {
  readonly server: IrcServer;
  readonly wire: WireTap;
  readonly crowd: Readonly<Record<PlatformUpdate["by"], IrcPerson>>;
}

export const BOT = "pibot";
export const DEN = "#den";

/** What the schema of plugin.json fills in, for a server on this machine. */
export const ircConfig = (port: number, more: Readonly<Record<string, unknown>> = {}) => ({
  server: "127.0.0.1",
  port,
  tls: false,
  nick: BOT,
  auth: "sasl",
  requireAccount: false,
  checkRecipient: true,
  burst: 1_000,
  lineMs: 0,
  dmPolicy: "pairing",
  allowFrom: [],
  groupPolicy: "allowlist",
  requireMention: true,
  groups: { [DEN]: {} },
  ...more,
});

export async function ircWorld(more: Readonly<Record<string, unknown>> = {}): Promise<IrcWorld> {
  const bench = await channelBench();
  const server = await startIrcServer();
  const wire = await tapWire(server.port);
  const crowd = {
    friend: await joinIrc(server.port, "friend", [DEN]),
    other: await joinIrc(server.port, "other", [DEN]),
    stranger: await joinIrc(server.port, "stranger", [DEN]),
  };
  const brought: string[] = [];
  const finished = { count: 0 };
  const deps = { ...bench.deps, door: countingDoor(bench.deps.door, finished) };
  const platforms = createPlatforms(deps, []);
  const added = platforms.add(createIrc(readSettings(ircConfig(wire.port, more))));
  await platforms.apply({} as Config);
  const isIn = () => platforms.channel("irc")?.ready({ ...here(crowd.friend), chat: DEN }) === true;
  await eventually("the channel is in", isIn);
  const channel = platforms.channel("irc");
  if (!channel) throw new Error("no channel was opened");
  return {
    bench,
    channel,
    server,
    wire,
    crowd,
    here: here(crowd.friend),
    platform: {
      // IRC knows no edits, buttons, files or forwards, never says anything twice, and has no word for "too fast" on this server.
      kinds: ["message"],
      repeats: false,
      troubles: ["gone", "cut", "silent"],
      people: { friend: principal("friend"), other: principal("other"), stranger: principal("stranger") },
      async bring({ id, by, where, text }) {
        if (brought.includes(id)) return;
        brought.push(id);
        crowd[by].say(where === "dm" ? BOT : DEN, where === "dm" ? text : `${BOT}: ${text}`);
      },
      // There are no receipts: what counts is that the channel has stopped keeping it.
      confirmed: (id) => brought.includes(id) && brought.indexOf(id) < finished.count,
      shown: () => crowd.friend.heard.filter(({ by, to }) => by === BOT && to === "friend").map(({ text }) => text),
      calls: () => Object.values(crowd).flatMap((one) => heardFromBot(one)),
      misbehave: (trouble) => misbehave(trouble, wire, crowd.friend),
      connections: () => wire.connections(),
    },
    close: async () => added[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await platforms[Symbol.asyncDispose]();
      for (const one of Object.values(crowd)) await one[Symbol.asyncDispose]();
      await wire[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

const idOf = (nick: string): string => `${nick}!~${nick}@127.0.0.1`;
const principal = (nick: string): Principal => `irc:user:127.0.0.1/${idOf(nick)}` as Principal;
const here = ({ nick }: IrcPerson) => ({ channel: "irc", account: "main", chat: idOf(nick) });

const heardFromBot = ({ nick, heard }: IrcPerson): readonly string[] =>
  heard.filter(({ by }) => by === BOT).map(({ command, to, text }) => `${nick} ${command} ${to} ${text}`);

/** Counts what the door has given its last word about. */
function countingDoor(door: PlatformDeps["door"], finished: { count: number }): PlatformDeps["door"] {
  return {
    react: (reaction) => door.react(reaction),
    typing: (facts) => door.typing(facts),
    async look(arrival) {
      const looked = await door.look(arrival);
      if (looked.kind === "stay") finished.count++;
      return looked;
    },
    async receive(message, signal) {
      const receipt = await door.receive(message, signal);
      finished.count++;
      return receipt;
    },
  };
}

function misbehave(trouble: Trouble | null, wire: WireTap, friend: IrcPerson): void {
  if (trouble === "gone") friend.write(`MODE ${friend.nick} +b`); // takes no messages from people who are not signed in
  wire.mood = trouble === "silent" || trouble === "cut" ? trouble : "well";
}
