/** What every channel promises, whatever platform is behind it. Takes a way to open one beside a fake of its platform, and knows nothing else about it. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError, type SendErrorKind } from "../../contracts/channel.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { Arrival } from "../../contracts/channels/platform.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { Principal } from "../../contracts/ids.ts";
import { systemClock } from "../../kit/clock.ts";
import type { ChannelBench } from "../channels/channel-bench.ts";
import { askingPromises, type FakeButtons } from "./asking-contract.ts";
import { waitFor, waitForEnd } from "../wait-for.ts";

export interface ChannelWorld extends AsyncDisposable {
  readonly bench: ChannelBench;
  /** Open and connected. */
  readonly channel: Channel;
  readonly platform: FakePlatform;
  /** Where the friend and the channel speak with each other alone. */
  readonly here: ChatAddress;
  /** Ends the channel as the gateway does when it stops, and leaves the platform running. */
  close(): Promise<void>;
}

/** The other side of a channel, on this machine, with everything written down that it saw. */
export interface FakePlatform {
  /** What can happen there. A kind that is missing does not exist on this platform. */
  readonly kinds: readonly UpdateKind[];
  /** False: it has no way to bring an update twice, so there is nothing to recognise. */
  readonly repeats?: false;
  /** How it can misbehave; empty: sending there cannot fail. */
  readonly troubles: readonly Trouble[];
  /** Ids of people as the gateway knows them. `other` has access as well, and is not who wrote what `friend` wrote. */
  readonly people: { readonly friend: Principal; readonly other: Principal | null; readonly stranger: Principal };
  /** Hands over an update. The same id once more is the same update once more. Resolves when it is on its way. */
  bring(update: PlatformUpdate): Promise<void>;
  /** The platform was told that it need not bring this update again; where it wants no receipts: the channel has let go of it. */
  confirmed(id: string): boolean;
  /** What people read in `here` now, oldest first. */
  shown(): readonly string[];
  /** Whatever the channel did that people notice or that costs something: messages, typing, reactions, downloads. Not: asking for updates. */
  calls(): readonly string[];
  /** Until it is told `null`. `limited` asks for a pause of LIMITED_MS; `cut` does what it was asked, and breaks off before it says so. */
  misbehave(trouble: Trouble | null): void;
  /** Questions with buttons; absent: there are none there. */
  readonly buttons?: FakeButtons;
  /** It follows the gateway's events itself, besides the channel. */
  readonly listens?: true;
  /** Open connections of the channel; null: it has none of its own. */
  connections(): number | null;
}

/** `action`: a button was pressed under a message of ours. `forward`: words of somebody else, passed on. `voice` comes with a file. */
type UpdateKind = "message" | "edit" | "action" | "voice" | "forward";

export interface PlatformUpdate {
  readonly id: string;
  readonly kind: UpdateKind;
  readonly by: "friend" | "other" | "stranger";
  /** `group`: where friend, other and stranger all are, and the channel is mentioned. */
  readonly where: "dm" | "group";
  readonly text: string;
}

/** `limited`: too many requests. `gone`: the chat is not there any more. `cut`: the answer is lost. `silent`: it answers nothing at all. */
export type Trouble = "limited" | "gone" | "cut" | "silent";

export const LIMITED_MS = 3_000;

/** For a loopback connection; far more than it takes. */
const PATIENCE_MS = 10_000;
const PIECE_MS = 2;
const TEST_MS = 60_000;
/** Fake time after which silence must have been noticed, and its end too. */
const NOTICE_MS = 600_000;
const NOTICE_STEP_MS = 1_000;
const STEP_REAL_MS = 10;
const LONG_WORDS = 3_000;
const NEVER = new AbortController().signal;

export type Promising = (title: string, check: (world: ChannelWorld) => Promise<void>) => void;

export function channelContract(name: string, open: () => Promise<ChannelWorld>): void {
  describe(`the channel ${name}`, () => {
    const promise: Promising = (title, check) =>
      test(
        title,
        async () => {
          await using world = await open();
          await check(world);
        },
        TEST_MS,
      );
    inboundPromises(promise);
    strangerPromises(promise);
    outboundPromises(promise);
    abilityPromises(promise);
    markPromises(promise);
    askingPromises(promise, eventually);
    lifePromises(promise);
  });
}

/** Waits for what happens by itself on the other side of a connection. */
export async function eventually(what: string, happened: () => boolean): Promise<void> {
  await waitFor(what, happened, Boolean, { withinMs: PATIENCE_MS });
}

const say = (id: string, text: string, more: Partial<PlatformUpdate> = {}): PlatformUpdate => ({
  id,
  text,
  kind: "message",
  by: "friend",
  where: "dm",
  ...more,
});

function inboundPromises(promise: Promising): void {
  promise("confirms an update when it is stored, and not before", async ({ bench, platform }) => {
    bench.hold();
    await platform.bring(say("1", "hello"));
    await eventually("the message is at the door", () => bench.waiting() === 1);
    expect(platform.confirmed("1")).toBe(false);
    bench.letGo();
    await eventually("the update is confirmed", () => platform.confirmed("1"));
    expect(bench.stored.map(({ text }) => text)).toEqual(["hello"]);
    expect(bench.stored[0]?.sender.principal).toBe(platform.people.friend);
  });

  promise("does not confirm what could not be stored; brought again, it is stored", async ({ bench, platform }) => {
    bench.failOnce();
    await platform.bring(say("1", "hello"));
    await bench.clock.advance(NOTICE_STEP_MS);
    if (bench.stored.length === 0) {
      expect(platform.confirmed("1")).toBe(false);
      await platform.bring(say("1", "hello"));
    }
    await passing(bench, "it is stored in the end", () => bench.stored.length === 1);
    await passing(bench, "the update is confirmed", () => platform.confirmed("1"));
  });

  promise("stores an update once, however often it comes", async ({ bench, platform }) => {
    if (platform.repeats === false) return;
    await platform.bring(say("1", "once"));
    await eventually("the update is confirmed", () => platform.confirmed("1"));
    await platform.bring(say("1", "once"));
    await platform.bring(say("2", "after it"));
    await eventually("the next one is confirmed", () => platform.confirmed("2"));
    expect(bench.stored.map(({ text }) => text)).toEqual(["once", "after it"]);
  });

  promise("keeps the order in which one person spoke", async ({ bench, platform }) => {
    for (const number of [1, 2, 3, 4, 5]) await platform.bring(say(`${number}`, `line ${number}`));
    await eventually("all are stored", () => bench.stored.length === 5);
    expect(bench.stored.map(({ text }) => text)).toEqual([1, 2, 3, 4, 5].map((number) => `line ${number}`));
  });

  promise("names the real author of whatever happens", async ({ bench, platform }) => {
    const { other } = platform.people;
    if (other === null) return; // there is one person only
    for (const kind of platform.kinds) {
      const before = bench.arrivals.length;
      await platform.bring(say(`${kind}-1`, "words", { kind, by: "other", where: "group" }));
      await eventually(`the door is asked about a ${kind}`, () => bench.arrivals.length > before);
      const arrived = bench.arrivals.slice(before);
      expect(arrived.map(({ sender }) => sender.principal)).toEqual(arrived.map(() => other));
      expect(arrived.every((arrival) => arrival.kind === doorKind(kind) && arrival.scope === "group")).toBe(true);
    }
  });
}

function doorKind(kind: UpdateKind): Arrival["kind"] {
  return kind === "edit" || kind === "action" ? kind : "message";
}

function strangerPromises(promise: Promising): void {
  promise("does nothing at all for a stranger, whatever they do, and lets their updates go", async (world) => {
    const { bench, platform } = world;
    bench.strangers.set(platform.people.stranger, null);
    const before = platform.calls().length;
    const places = platform.people.other === null ? (["dm"] as const) : (["dm", "group"] as const);
    for (const kind of platform.kinds) {
      for (const where of places) {
        const id = `${kind}-${where}`;
        await platform.bring(say(id, "let me in", { kind, by: "stranger", where }));
        await eventually(`${id} is let go`, () => platform.confirmed(id));
      }
    }
    expect(platform.calls().slice(before)).toEqual([]);
    expect(bench.stored).toEqual([]);
    expect(bench.fetched).toEqual([]);
    expect(bench.decided).toEqual([]);
  });

  promise("tells a stranger the one sentence that the door gives, and nothing in groups", async (world) => {
    const { bench, platform } = world;
    if (platform.people.other === null) return; // strangers are rejected before they reach the channel
    bench.strangers.set(platform.people.stranger, "Your code is ABCD2345.");
    const before = platform.calls().length;
    await platform.bring(say("1", "hello", { by: "stranger" }));
    await eventually("the stranger is told", () => platform.calls().length > before);
    bench.strangers.set(platform.people.stranger, null);
    await platform.bring(say("2", "hello", { by: "stranger", where: "group" }));
    await eventually("both are let go", () => platform.confirmed("1") && platform.confirmed("2"));
    expect(platform.calls().length).toBe(before + 1);
    expect(platform.calls().at(-1)).toContain("ABCD2345");
    expect(bench.stored).toEqual([]);
  });
}

function outboundPromises(promise: Promising): void {
  promise("shows the parts of a reply in order", async (world) => {
    const { bench, channel, platform, here } = world;
    for (const part of await bench.reply(here, ["first part", "second part", "third part"]))
      await channel.send(part, NEVER);
    await eventually("all parts are shown", () => platform.shown().length === 3);
    expect(platform.shown()).toEqual(["first part", "second part", "third part"]);
  });

  promise("shows a long text whole and in order, in as many pieces as the platform needs", async (world) => {
    const { bench, channel, platform, here } = world;
    const words = Array.from({ length: LONG_WORDS }, (_, at) => `w${at}`);
    const [part] = await bench.reply(here, [words.join(" ")]);
    if (!part) throw new Error("no part");
    await channel.send(part, NEVER);
    const noted = await bench.deps.facts.list(here.channel, here.account, "");
    expect(noted.filter(({ key }) => key.includes(part.id) || key.includes(part.turnId))).toEqual([]); // it is over
    const read = () => platform.shown().join(" ").split(/\s+/);
    await eventually("every word is shown", () => read().length === words.length);
    expect(read()).toEqual(words);
  });

  const kinds: readonly (readonly [Trouble, SendErrorKind])[] = [
    ["limited", "limited"],
    ["gone", "permanent"],
    ["cut", "lost"],
  ];
  for (const [trouble, kind] of kinds) {
    promise(`a send that is answered with "${trouble}" ends as ${kind}`, async (world) => {
      const { bench, channel, platform, here } = world;
      if (!platform.troubles.includes(trouble)) return;
      platform.misbehave(trouble);
      const [part] = await bench.reply(here, ["words"]);
      const failed = await channel.send(part as OutboxRow, NEVER).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(SendError);
      expect((failed as SendError).kind).toBe(kind);
      if (kind === "limited") expect((failed as SendError).retryAfterMs).toBeGreaterThanOrEqual(LIMITED_MS);
      expect(String(failed)).not.toContain("words");
    });
  }

  promise("a send that is given up rejects soon", async (world) => {
    const { bench, channel, platform, here } = world;
    if (!platform.troubles.includes("silent")) return;
    platform.misbehave("silent");
    const [part] = await bench.reply(here, ["words"]);
    const giveUp = new AbortController();
    const sending = channel.send(part as OutboxRow, giveUp.signal).catch((error: unknown) => error);
    await systemClock.sleep(PIECE_MS, NEVER);
    giveUp.abort(new Error("given up"));
    expect(await sending).toBeInstanceOf(Error);
  });
}

function abilityPromises(promise: Promising): void {
  promise("changes and withdraws its own messages, where it can", async (world) => {
    const { bench, channel, platform, here } = world;
    const [part] = await bench.reply(here, ["as it was"]);
    if (!part) throw new Error("nothing to send");
    const { providerId } = await channel.send(part, NEVER);
    const target = { to: here, sessionKey: part.sessionKey, messageId: providerId ?? part.id };
    await eventually("it is shown", () => platform.shown().includes("as it was"));
    if (channel.edit) {
      expect(await channel.edit(target, "as it is", NEVER)).toEqual({ kind: "done" });
      await eventually("the change is shown", () => platform.shown().includes("as it is"));
      expect(platform.shown()).not.toContain("as it was");
    }
    if (channel.delete) {
      expect(await channel.delete(target, NEVER)).toEqual({ kind: "done" });
      await eventually("nothing is shown", () => platform.shown().length === 0);
    }
  });

  promise("leaves messages alone that are not there or not its own", async (world) => {
    const { bench, channel, platform, here } = world;
    const [part] = await bench.reply(here, ["ours"]);
    if (!part) throw new Error("nothing to send");
    await channel.send(part, NEVER);
    await eventually("it is shown", () => platform.shown().length === 1);
    const target = { to: here, sessionKey: part.sessionKey, messageId: "999999" };
    for (const action of [channel.edit?.(target, "changed", NEVER), channel.delete?.(target, NEVER)]) {
      if (action) expect((await action).kind).toBe("refused");
    }
    expect(platform.shown()).toEqual(["ours"]);
  });
}

function markPromises(promise: Promising): void {
  promise(
    "reacts to messages and pins them, where it can, and refuses with a reason what is not there",
    async (world) => {
      const { bench, channel, here } = world;
      const [part] = await bench.reply(here, ["a fine thing"]);
      if (!part) throw new Error("nothing to send");
      const { providerId } = await channel.send(part, NEVER);
      const target = { to: here, sessionKey: part.sessionKey, messageId: providerId ?? part.id };
      const thumb = { emoji: ["👍"], remove: false };
      for (const action of [
        channel.react?.(target, thumb, NEVER),
        channel.react?.(target, { ...thumb, remove: true }, NEVER),
        channel.pin?.(target, false, NEVER),
        channel.pin?.(target, true, NEVER),
      ])
        if (action) expect((await action).kind).toBe("done");
      const nowhere = { ...target, messageId: "999999" };
      for (const action of [channel.react?.(nowhere, thumb, NEVER), channel.pin?.(nowhere, false, NEVER)])
        if (action) expect(await action).toEqual({ kind: "refused", because: expect.stringMatching(/\S{3}/) });
    },
  );
}

function lifePromises(promise: Promising): void {
  promise("is ready and well once it is connected", async (world) => {
    const { channel } = world;
    await passing(world.bench, "it is well", () => channel.ready(world.here) && channel.health().ok);
    expect(channel.health().detail).not.toBe("");
  });

  promise("is not well while its platform is silent, and well again after that", async (world) => {
    const { bench, channel, platform } = world;
    if (!platform.troubles.includes("silent")) return;
    await passing(bench, "it is well", () => channel.health().ok);
    platform.misbehave("silent");
    await passing(bench, "the silence is noticed", () => !channel.health().ok);
    expect(channel.health().detail).not.toBe("");
    platform.misbehave(null);
    await passing(bench, "it is well again", () => channel.ready(world.here) && channel.health().ok);
  });

  promise("gives up what it is sending when it ends", async (world) => {
    const { bench, channel, here, platform } = world;
    if (!platform.troubles.includes("silent")) return;
    const [part] = await bench.reply(here, ["not before the end"]);
    if (!part) throw new Error("no part");
    platform.misbehave("silent");
    const sending = channel.send(part, NEVER).then(
      () => "sent",
      () => "given up",
    );
    await bench.clock.advance(NOTICE_STEP_MS);
    await world.close();
    expect(await waitForEnd("the send", sending)).toBe("given up");
  });

  promise("leaves no connection, timer or listener behind when it ends, and takes nothing more in", async (world) => {
    const { bench, platform } = world;
    if (platform.kinds.includes("voice")) {
      await platform.bring(say("8", "", { kind: "voice" }));
      await passing(bench, "the file is fetched", () => bench.stored.length === 1);
    }
    const stored = bench.stored.length;
    const [part] = await bench.reply(world.here, ["hello"]); // what a call needs in passing has to go as well
    const before = platform.calls().length;
    const sent = part && (await world.channel.send(part, NEVER).catch(() => null)); // whether it arrives is asked above
    if (sent) await eventually("the platform has the message", () => platform.calls().length > before);
    await world.close();
    if (!platform.listens) expect(bench.listening()).toBe(0);
    if (platform.connections() !== null)
      await eventually("every connection is closed", () => platform.connections() === 0);
    await eventually(
      "every timer is gone, those of the platform for its connections too",
      () => bench.clock.pending() === 0,
    );
    const calls = platform.calls().length;
    await platform.bring(say("9", "too late")).catch(() => undefined); // nobody may be there to take it
    await bench.clock.advance(NOTICE_STEP_MS);
    expect(platform.confirmed("9")).toBe(false);
    expect(platform.calls().length).toBe(calls);
    expect(bench.stored).toHaveLength(stored);
  });
}

/** Lets fake time pass, and real time for connections, until it has happened. */
export async function passing(
  { clock }: Pick<ChannelBench, "clock">,
  what: string,
  happened: () => boolean,
): Promise<void> {
  for (let passed = 0; passed < NOTICE_MS; passed += NOTICE_STEP_MS) {
    if (happened()) return;
    await systemClock.sleep(STEP_REAL_MS, NEVER); // or a request on this machine would run out of time
    await clock.advance(NOTICE_STEP_MS);
  }
  throw new Error(`this did not happen: ${what}`);
}
