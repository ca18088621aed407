/** Discord as the channel contract sees it: the real channel beside a fake of the platform on this machine. */
import { createDiscord, type DiscordSettings } from "../../channels/discord/index.ts";
import type { ChannelState, OpenChannel, PlatformDeps } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";
import { secret } from "../../kit/secret.ts";
import { type ChannelBench, channelBench } from "../channels/channel-bench.ts";
import type { FakeButtons } from "../contracts/asking-contract.ts";
import {
  type ChannelWorld,
  eventually,
  type FakePlatform,
  type PlatformUpdate,
} from "../contracts/channel-contract.ts";
import { type FakeDiscord, startFakeDiscord } from "./fake-discord.ts";
import { BOT, BOT_TOKEN, PEOPLE, PLACES } from "./fake-people.ts";

export interface DiscordWorld extends ChannelWorld {
  readonly channel: OpenChannel;
  readonly fake: FakeDiscord;
  /** Closes the channel, if it is open, and opens it anew with what it knew. */
  reopen(): Promise<OpenChannel>;
}

/** Real milliseconds, by which the library beats the heart: longer than any test, unless it is about that. */
const HEARTBEAT_MS = 120_000;
const NEVER = new AbortController().signal;
const VOICE_FLAG = 1 << 13;

export async function discordWorld(
  settings: Partial<DiscordSettings> = {},
  heartbeatMs = HEARTBEAT_MS,
): Promise<DiscordWorld> {
  const bench = await channelBench();
  const fake = await startFakeDiscord({ now: () => bench.clock.now(), heartbeatMs });
  const done = new Set<string>();
  const deps: PlatformDeps = { ...bench.deps, facts: noting(bench.deps.facts, done), door: noticing(bench, done) };
  const whole: DiscordSettings = {
    token: secret(BOT_TOKEN),
    apiRoot: fake.apiRoot,
    streamMode: "off",
    mediaMaxMb: 10,
    ...settings,
  };
  const open = async (): Promise<OpenChannel> => {
    const [channel] = await createDiscord(whole).open(deps, NEVER);
    if (!channel) throw new Error("nothing was opened");
    await eventually("it is connected", () => channel.ready());
    await eventually("its menu is registered", () => fake.rest.commands().length > 0);
    return channel;
  };
  let channel = await open();
  const close = async (): Promise<void> => {
    await channel[Symbol.asyncDispose]();
  };
  return {
    bench,
    get channel() {
      return channel;
    },
    fake,
    here: { channel: "discord", account: "default", chat: PLACES.dm },
    platform: platformOf(fake, done),
    close,
    async reopen() {
      await close();
      channel = await open();
      return channel;
    },
    async [Symbol.asyncDispose]() {
      await close();
      await fake[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** A message counts as taken when it is noted that its channel was read that far. */
function noting(facts: ChannelState, done: Set<string>): ChannelState {
  return {
    ...facts,
    async put(channel, account, key, value) {
      await facts.put(channel, account, key, value);
      if (key.startsWith("last:")) done.add(value);
    },
  };
}

/** Who is not let in is done with when the door has said so, each time; an edit or a button of others as well. */
function noticing({ deps: { door } }: ChannelBench, done: Set<string>): PlatformDeps["door"] {
  return {
    ...door,
    async look(arrival) {
      const seen = await door.look(arrival);
      if (seen.kind === "stay" || arrival.kind !== "message")
        countUp(done, `${arrival.kind}:${arrival.scope}:${arrival.sender.principal}`);
      return seen;
    },
    async receive(message, signal) {
      const receipt = await door.receive(message, signal);
      if (receipt.kind === "duplicate") done.add(message.eventId);
      return receipt;
    },
  };
}

const principal = (id: string) => `discord:user:${id}` as Principal;

/** Adds `what#1`, then `what#2` and so on; gives the one it added. */
function countUp(numbered: Set<string>, what: string): string {
  for (let number = 1; ; number++) {
    const next = `${what}#${number}`;
    if (numbered.has(next)) continue;
    numbered.add(next);
    return next;
  }
}

function platformOf(fake: FakeDiscord, done: ReadonlySet<string>): FakePlatform {
  /** The ids that the contract uses → ours, so that the same update is the same message. */
  const known = new Map<
    string,
    { readonly id: string; readonly looked: string; readonly payload: Record<string, unknown> }
  >();
  const brought = new Set<string>();
  return {
    kinds: ["message", "edit", "action", "voice", "forward"],
    troubles: ["limited", "gone", "cut", "silent"],
    people: {
      friend: principal(PEOPLE.friend.id),
      other: principal(PEOPLE.other.id),
      stranger: principal(PEOPLE.stranger.id),
    },
    async bring(update) {
      const before = known.get(update.id);
      if (before) return fake.gateway.dispatch("MESSAGE_CREATE", before.payload);
      const { id, payload, event } = happen(fake, update);
      const kind = update.kind === "edit" || update.kind === "action" ? update.kind : "message";
      const looked = countUp(brought, `${kind}:${update.where}:${principal(PEOPLE[update.by].id)}`);
      known.set(update.id, { id, looked, payload });
      fake.gateway.dispatch(event, payload);
    },
    confirmed(id) {
      const about = known.get(id);
      return about !== undefined && (done.has(about.id) || done.has(about.looked));
    },
    shown: () =>
      fake.state
        .messages(PLACES.dm)
        .filter(({ author }) => author.id === BOT.id)
        .map(({ content }) => content),
    calls: () =>
      fake.rest.calls
        .filter(({ method, path }) => noticed(method, path))
        .map(({ method, path, json }) => `${method} ${path} ${JSON.stringify(json)}`),
    misbehave(trouble) {
      fake.gateway.beSilent(trouble === "silent");
      fake.rest.misbehave(trouble === "silent" ? null : trouble);
    },
    buttons: buttonsIn(fake),
    connections: () => fake.gateway.connections(),
  };
}

/** Reading what was missed and telling the menu is nothing that people notice. */
function noticed(method: string, path: string): boolean {
  return !path.endsWith("/commands") && !(method === "GET" && path.endsWith("/messages"));
}

interface Row {
  readonly components: readonly { readonly label: string; readonly custom_id: string }[];
}

function buttonsIn(fake: FakeDiscord): FakeButtons {
  const now = () =>
    fake.state
      .messages(PLACES.dm)
      .flatMap(({ id, components }) =>
        (components as readonly Row[]).flatMap((row) => row.components.map((button) => ({ ...button, under: id }))),
      );
  const seen = new Map<string, ReturnType<typeof now>[number]>();
  return {
    labels: () => now().map(({ label }) => label),
    async press(label, by) {
      for (const button of now()) seen.set(button.label, button);
      const { custom_id: custom = "", under = "" } = seen.get(label) ?? {};
      const { event, payload } = pressed(fake, { channel: PLACES.dm, by, custom, under });
      fake.gateway.dispatch(event, payload);
    },
    async reply(messageId, text) {
      const more = { type: 19, message_reference: { message_id: messageId } };
      const message = fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: text, more });
      fake.gateway.dispatch("MESSAGE_CREATE", fake.state.asEvent(message));
    },
  };
}

interface Happened {
  readonly id: string;
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

function happen(fake: FakeDiscord, { kind, by, where, text }: PlatformUpdate): Happened {
  const author = PEOPLE[by];
  const dm = by === "stranger" ? PLACES.strangersDm : PLACES.dm;
  const channel = where === "dm" ? dm : PLACES.room;
  if (kind === "action") return pressed(fake, { channel, by, custom: "approval:once:q1" });
  const content = where === "group" && kind !== "forward" ? `<@${BOT.id}> ${text}` : text;
  const message = fake.state.add({ channel, author, content, more: moreOf(fake, kind, where) });
  if (kind === "edit") fake.state.edit(channel, message.id, `${content}, changed`);
  return {
    id: message.id,
    event: kind === "edit" ? "MESSAGE_UPDATE" : "MESSAGE_CREATE",
    payload: fake.state.asEvent(message),
  };
}

function moreOf(
  fake: FakeDiscord,
  kind: PlatformUpdate["kind"],
  where: PlatformUpdate["where"],
): Record<string, unknown> {
  const mentions = where === "group" ? { mentions: [{ id: BOT.id, username: BOT.name }] } : {};
  if (kind === "forward") {
    const snapshot = { message: { content: "words of somebody else", attachments: [] } };
    return { ...mentions, content: "", message_reference: { type: 1 }, message_snapshots: [snapshot] };
  }
  if (kind !== "voice") return {};
  fake.rest.downloads.set("/files/voice.ogg", new Uint8Array([79, 103, 103, 83]));
  const url = `${fake.rest.url}/files/voice.ogg`;
  return {
    flags: VOICE_FLAG,
    attachments: [{ id: "1", filename: "voice.ogg", size: 4, url, content_type: "audio/ogg" }],
  };
}

interface Press {
  readonly channel: string;
  readonly by: keyof typeof PEOPLE;
  readonly custom: string;
  /** The message the button is under. */
  readonly under?: string;
}

/** Somebody presses a button under a message of the bot's. */
export function pressed({ state }: Pick<FakeDiscord, "state">, { channel, by, custom, under }: Press): Happened {
  const id = state.nextId();
  return {
    id,
    event: "INTERACTION_CREATE",
    payload: interactionOf(
      state,
      { channel, by, id, under },
      { type: 3, data: { custom_id: custom, component_type: 2 }, message: { id: under ?? "0" } },
    ),
  };
}

/** Somebody uses a slash command. */
export function commanded(
  { state }: Pick<FakeDiscord, "state">,
  used: Omit<Press, "custom"> & { readonly name: string; readonly text?: string },
): Happened {
  const id = state.nextId();
  const options = used.text === undefined ? [] : [{ type: 3, name: "text", value: used.text }];
  return {
    id,
    event: "INTERACTION_CREATE",
    payload: interactionOf(
      state,
      { ...used, id, under: undefined },
      { type: 2, data: { type: 1, name: used.name, options } },
    ),
  };
}

function interactionOf(
  state: FakeDiscord["state"],
  {
    channel,
    by,
    id,
    under,
  }: Pick<Press, "channel" | "by"> & { readonly id: string; readonly under: string | undefined },
  rest: Record<string, unknown>,
): Record<string, unknown> {
  const guild = state.channels.get(channel)?.guild;
  const who = guild === undefined ? { user: PEOPLE[by] } : { guild_id: guild, member: { user: PEOPLE[by], roles: [] } };
  const token = under === undefined ? `token${id}` : `${channel}-${under}`;
  return {
    id,
    application_id: BOT.applicationId,
    token,
    version: 1,
    channel: { id: channel, type: 1 },
    channel_id: channel,
    ...who,
    ...rest,
  };
}
