/** Reactions that begin a turn: when, how often, for whom, and what the model and the inbox read of them. */
import { describe, expect, test } from "bun:test";
import type { SessionChat } from "../../contracts/channels/session-chats.ts";
import type { ArrivedReaction } from "../../contracts/channels/platform.ts";
import type { AgentId, Principal, TurnId } from "../../contracts/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { createQueue } from "../../queue/index.ts";
import { channelPolicy, createRouter } from "../../routing/index.ts";
import { end, row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { routingConfig } from "../../testing/routing-config.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { quietReceiver } from "../../testing/worlds/quiet-receiver.ts";
import { originOf as usageOriginOf } from "../billing.ts";
import { causeOf } from "../questions/decide.ts";
import { createMessageIntake } from "./intake.ts";
import { createReactionWakes, JOIN_MS, WAKE_EVERY_MS } from "./reaction-wakes.ts";

const SESSION = sessionKey("a");
const TO = { channel: "telegram", account: "main", chat: "5" };
const ADA = { principal: "telegram:user:5" as Principal, name: "Ada" };
const BEN = { principal: "telegram:user:6" as Principal, name: "Ben" };
const EVE = { principal: "telegram:user:7" as Principal, name: "Eve" };

/** A gateway that said `t1:0`, which Telegram calls 21, and `t2:0`, which is 22. */
async function world(settings: { readonly wakeOnReaction?: boolean }, chat: Partial<SessionChat> = {}) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const { store } = real;
  const log = recordingLog();
  const ids = createSeqIds();
  const events = createEvents({ log });
  const stop = new AbortController();
  const access = { now: { dmPolicy: "allowlist", allowFrom: ["5", "6"], ...settings } as const };
  const policyOf = (channel: string, account: string) => channelPolicy({ telegram: access.now }, channel, account);
  const router = createRouter(
    () => routingConfig(),
    { policyOf, isPaired: () => false },
    () => new Map(),
  );
  const queue = createQueue({ clock, ids, log, store, workKind: () => "talk" }, () => ({
    maxPerSession: 50,
    maxTotal: 50,
    maxOverflow: 10,
    ttlMs: Infinity,
    mode: "interrupt",
    collectMs: 0,
    channels: {},
  }));
  const receiver = quietReceiver({ log, events, queue, router }, undefined, stop.signal);
  const at = { sessionKey: SESSION, agentId: "default" as AgentId, to: TO, scope: "dm", ...chat } as const;
  const wakes = () =>
    createReactionWakes({
      clock,
      log,
      receiver,
      sessionChats: { at: async () => at },
      stopping: stop.signal,
      mayWake: ({ channel, account }) => policyOf(channel, account).wakeOnReaction,
    });
  const open = () =>
    createMessageIntake({
      clock,
      log,
      router,
      receiver,
      inbox: store.inbox,
      pairing: { ask: async () => null as never },
      reactions: { events, messages: store.messages, reactions: store.outbox },
      reactionWakes: wakes(),
      groupTalk: { note: () => undefined },
      preparer: { prepare: async () => ({ prepares: "nothing", because: "a test" }) },
      stopping: stop.signal,
    });
  for (const n of [1, 2]) {
    await store.inbox.accept(row(`in${n}`, "a", { address: TO }));
    await store.turns.begin(turn(`t${n}`, "a", [`in${n}`]));
    await store.turns.finish(end(`t${n}`, { to: TO }));
    await store.outbox.settle(`t${n}:0`, { state: "sent", because: null, providerId: `2${n}` }, 1);
  }
  let door = open();
  let update = 100;
  return {
    access,
    store,
    clock,
    queue,
    stop,
    react: (emoji: readonly string[], more: Partial<ArrivedReaction> = {}) =>
      door.react({
        address: TO,
        scope: "dm",
        sender: ADA,
        messageId: "21",
        how: "set",
        emoji,
        updateId: String(update++),
        ...more,
      }),
    /** What is remembered in memory is gone. */
    forget: () => void (door = open()),
    /** What waits for a turn, after the time in which a burst joins. */
    async woken() {
      await clock.advance(JOIN_MS);
      return (await store.inbox.unfinished()).map(({ message }) => message);
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

const ON = { wakeOnReaction: true };

describe("a reaction to a message of the assistant", () => {
  test("begins a turn in the session of the message, as its person, where the channel wants that", async () => {
    await using w = await world(ON);
    await w.react(["👍"]);
    const [message, ...more] = await w.woken();
    expect(more).toEqual([]);
    expect(message).toMatchObject({
      text: "(Ada reacted 👍 to your message t1:0.)",
      origin: "reaction",
      sender: ADA,
      address: TO,
      scope: "dm",
    });
    const [stored] = await w.store.inbox.unfinished();
    expect(stored).toMatchObject({ sessionKey: SESSION, role: "member", agentId: "default" });
    const { items } = await w.store.sessions.transcript(SESSION, { limit: 10 });
    expect(items.at(-1)).toMatchObject({ role: "user", origin: "reaction" });
  });

  test("begins no turn where the channel says nothing about it, and then the next turn reads of it", async () => {
    await using w = await world({});
    await w.react(["👍"]);
    expect(await w.woken()).toEqual([]);
    expect(await w.store.outbox.tell(SESSION, "t9" as TurnId)).toMatchObject([{ emoji: "👍", messageId: "t1:0" }]);
  });

  test("begins a turn from the moment on at which the setting is changed, and none after it is changed back", async () => {
    await using w = await world({});
    w.access.now = { ...w.access.now, wakeOnReaction: true };
    await w.react(["👍"]);
    expect(await w.woken()).toHaveLength(1);
    await w.clock.advance(WAKE_EVERY_MS);
    w.access.now = { ...w.access.now, wakeOnReaction: false };
    await w.react(["🎉"]);
    expect(await w.woken()).toHaveLength(1);
  });

  test("begins no turn when its person has no access, or when it is to a message of somebody else", async () => {
    await using w = await world(ON);
    await w.react(["👍"], { sender: EVE });
    await w.react(["👍"], { messageId: "99" });
    expect(await w.woken()).toEqual([]);
  });

  test("begins no turn when it is removed, and one that stays when another is removed begins none again", async () => {
    await using w = await world(ON);
    await w.react(["👍", "🎉"]);
    expect(await w.woken()).toHaveLength(1);
    await w.clock.advance(WAKE_EVERY_MS);
    await w.react(["🎉"]);
    await w.react([]);
    await w.react(["🎉"], { how: "remove" });
    expect(await w.woken()).toHaveLength(1);
  });

  test("that the platform brings twice begins one turn, also after a restart and after it was removed", async () => {
    await using w = await world(ON);
    await w.react(["👍"], { updateId: "7" });
    await w.react(["👍"], { updateId: "7" });
    expect(await w.woken()).toHaveLength(1);
    w.forget();
    await w.react([], { updateId: "8" });
    await w.react(["👍"], { updateId: "7" });
    expect(await w.woken()).toHaveLength(1);
    w.forget();
    await w.react([], { updateId: "9" });
    await w.react(["👍"], { updateId: "10" });
    expect(await w.woken()).toHaveLength(2);
  });

  test("joins others of the same few seconds in one turn of the first person, with all of them named", async () => {
    await using w = await world(ON);
    await w.react(["👍"]);
    await w.clock.advance(JOIN_MS - 1);
    await w.react(["🎉"], { sender: BEN, messageId: "22" });
    expect(await w.woken()).toMatchObject([
      { sender: ADA, text: "(Ada reacted 👍 to your message t1:0. Ben reacted 🎉 to your message t2:0.)" },
    ]);
  });

  test("of a burst is named when it is among the first five; the others are counted", async () => {
    await using w = await world(ON);
    await w.react(["👍"]);
    for (const emoji of ["1", "2", "3", "4", "5", "6"]) await w.react([emoji], { how: "add", messageId: "22" });
    const [message] = await w.woken();
    expect(message?.text.match(/reacted/g)).toHaveLength(5);
    expect(message?.text).toEndWith("to your message t2:0. 2 more reactions came.)");
  });

  test("of a burst without end is counted, and no more than the first five are kept until its turn begins", async () => {
    const clock = createFakeClock();
    const put: string[] = [];
    const wakes = createReactionWakes({
      clock,
      log: recordingLog(),
      receiver: { put: async ({ message }: { message: { text: string } }) => (put.push(message.text), {}) } as never,
      sessionChats: { at: async () => ({ sessionKey: SESSION, agentId: "default" as AgentId, to: TO, scope: "dm" }) },
      stopping: new AbortController().signal,
      mayWake: () => true,
    });
    const reaction = (n: number) => ({
      reaction: { address: TO, scope: "dm", sender: ADA, messageId: "21", how: "add", emoji: [String(n)] } as const,
      role: "member" as const,
      message: { id: "t1:0", sessionKey: SESSION, added: [String(n)] },
    });
    const kept = await keptPerRound((round) => wakes.note(reaction(round)));
    expect(kept).toEqual({});
    for (let n = 0; n < 10; n++) wakes.note(reaction(n));
    await clock.advance(JOIN_MS);
    expect(put.join()).toMatch(
      /^\(Ada reacted 0 to .* Ada reacted 4 to your message t1:0\. \d+ more reactions came\.\)$/,
    );
  });

  test("begins a turn in ten thousand sessions a minute, and in a further one when that minute is over", async () => {
    const clock = createFakeClock();
    const stopping = new AbortController();
    const woken: string[] = [];
    const wakes = createReactionWakes({
      clock,
      log: recordingLog(),
      receiver: { put: async () => ({}) } as never,
      sessionChats: { at: async (key) => (woken.push(key), null) },
      stopping: stopping.signal,
      mayWake: () => true,
    });
    const react = (session: string) =>
      wakes.note({
        reaction: { address: TO, scope: "dm", sender: ADA, messageId: "21", how: "add", emoji: ["👍"] },
        role: "member",
        message: { id: "t1:0", sessionKey: sessionKey(session), added: ["👍"] },
      });
    for (let n = 0; n < 10_001; n++) react(String(n));
    await clock.advance(JOIN_MS);
    expect([woken.length, woken.at(-1)]).toEqual([10_000, sessionKey("9999")]);
    await clock.advance(WAKE_EVERY_MS - JOIN_MS);
    react("10000");
    await clock.advance(JOIN_MS);
    expect(woken.at(-1)).toBe(sessionKey("10000"));
    stopping.abort(new Error("the gateway is stopping"));
  });

  test("begins at most one turn a minute in a session; the others are read with the next turn", async () => {
    await using w = await world(ON);
    await w.react(["👍"]);
    await w.clock.advance(JOIN_MS);
    await w.react(["👍", "🎉"]);
    await w.clock.advance(WAKE_EVERY_MS - JOIN_MS - 1);
    await w.react(["👍", "🎉", "🔥"]);
    expect(await w.woken()).toHaveLength(1);
    await w.react(["👍", "🎉", "🔥", "👏"]);
    expect((await w.woken()).map(({ text }) => text)).toEqual([
      "(Ada reacted 👍 to your message t1:0.)",
      "(Ada reacted 👏 to your message t1:0.)",
    ]);
  });

  test("begins no turn in a session whose chat is another one now, and none while the gateway stops", async () => {
    await using moved = await world(ON, { to: { ...TO, chat: "6" } });
    await moved.react(["👍"]);
    expect(await moved.woken()).toEqual([]);
    await using stopping = await world(ON);
    await stopping.react(["👍"]);
    stopping.stop.abort(new Error("the gateway is stopping"));
    expect(await stopping.woken()).toEqual([]);
  });

  test("does not interrupt the turn that runs", async () => {
    await using w = await world(ON);
    await w.store.inbox.accept(row("in9", "a", { address: TO }));
    await w.queue.recover();
    const batch = await w.queue.take(new AbortController().signal);
    await w.react(["👍"]);
    await w.clock.advance(JOIN_MS);
    expect([batch.entries.length, batch.cancelled.aborted]).toEqual([1, false]);
  });

  test("is paid by its person and may ask them something, like a message of theirs", () => {
    const chat = { origin: "reaction", scope: "dm", address: TO } as const;
    expect([usageOriginOf(chat), usageOriginOf({ ...chat, scope: "group" })]).toEqual(["chat", "group"]);
    expect(causeOf({ cause: "reaction", origin: TO })).toBe("chat");
  });
});

describe("a reaction that is handed in", () => {
  const SERVER = { ...TO, channel: "discord" };
  async function handedIn(session: typeof TO) {
    const clock = createFakeClock();
    const { signal: stopping } = new AbortController();
    const entries: unknown[] = [];
    const signals: AbortSignal[] = [];
    const put = async (entry: unknown, signal: AbortSignal) => {
      entries.push(entry);
      signals.push(signal);
      return { kind: "queued" };
    };
    const at = { sessionKey: SESSION, agentId: "default" as AgentId, to: session, scope: "group" } as const;
    const wakes = createReactionWakes({
      clock,
      log: recordingLog(),
      receiver: { put } as never,
      sessionChats: { at: async () => at },
      mayWake: () => true,
      stopping,
    });
    const reaction = { address: SERVER, scope: "group", place: "guild-7", sender: ADA, messageId: "21" } as const;
    const message = { id: "t1:0", sessionKey: SESSION, added: ["👍"] };
    wakes.note({ reaction: { ...reaction, how: "add", emoji: ["👍"] }, role: "member", message });
    await clock.advance(JOIN_MS);
    return { entries, isStopped: signals.map((signal) => signal === stopping) };
  }

  test("is one of its server, whose settings hold, and is given up with the gateway", async () => {
    const { entries, isStopped } = await handedIn(SERVER);
    expect(entries).toMatchObject([{ role: "member", message: { place: "guild-7", address: SERVER } }]);
    expect(isStopped).toEqual([true]);
  });

  test.each([
    ["channel", TO],
    ["account", { ...SERVER, account: "second" }],
    ["chat", { ...SERVER, chat: "6" }],
  ])("begins no turn in a session that has moved to another %s", async (_what, session) => {
    expect((await handedIn(session)).entries).toEqual([]);
  });
});
