/** Who waits for whom in the outbox, what a stop does to it, and when it says that it is done. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import { orAborted } from "../kit/deferred.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { advanceUntil, waitFor } from "../testing/wait-for.ts";
import { type Answer, outboxWorld } from "../testing/worlds/outbox-world.ts";
import { createGates } from "./gates.ts";
import { MAX_SENDING } from "./outbox.ts";
import { createRecentTrouble, MAX_RECENT, RECENT_MS } from "./recent-trouble.ts";

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;
const KINDS: readonly Channel["repeat"][] = ["safe", "deduplicated", "risky"];

/** Holds every send of these accounts, or chats, until it is told to let go. */
function holding(...names: readonly string[]) {
  const gate = Promise.withResolvers<void>();
  const state = { begun: 0, ended: 0 };
  const answer: Answer = async ({ to }, signal) => {
    state.begun++;
    if (names.includes(to.chat) || names.includes(to.account)) await orAborted(gate.promise, signal);
    state.ended++;
    return {};
  };
  return { state, answer, release: () => gate.resolve() };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new SendError("lost", "cut"))));

describe("lanes", () => {
  test("two bots in one chat do not wait for each other", async () => {
    const { answer, release } = holding("first");
    await using world = await outboxWorld({}, answer);
    await world.reply("group", ["slow"], { account: "first" });
    await world.reply("group", ["quick"], { account: "second" });
    await waitFor("the second bot to be sent", async () => (await world.rows())["turn_2:0"]?.state === "sent");
    expect((await world.rows())["turn_1:0"]?.state).toBe("pending");
    expect(world.outbox.owes({ channel: "fake", account: "second", chat: "group" })).toBe(false);
    release();
    await world.drained();
  });

  test("a chat that was answered is answered again", async () => {
    await using world = await outboxWorld({}, () => ({}));
    for (const text of ["one", "two", "three"]) {
      await world.reply("a", [text]);
      await waitFor(`"${text}" to be sent`, () => world.texts().at(-1) === text);
      await world.drained();
    }
  });

  test("many chats of an account are served one after another, more than there are places", async () => {
    await using world = await outboxWorld({}, () => ({}));
    const chats = Array.from({ length: 2 * MAX_SENDING + 1 }, (_, at) => `c${at}`);
    for (const chat of chats) {
      await world.reply(chat, [chat]);
      await waitFor(`${chat} to be sent`, () => world.texts().at(-1) === chat);
    }
  });

  test("a long reply goes behind other chats of its account after each part", async () => {
    const held = Array.from({ length: MAX_SENDING - 1 }, (_, at) => `h${at}`); // leaves one place
    const { state, answer, release } = holding(...held);
    const stored = Promise.withResolvers<void>();
    await using world = await outboxWorld({}, async (row, signal) => {
      if (row.message.text === "1") await stored.promise;
      return answer(row, signal);
    });
    for (const chat of held) await world.reply(chat, [chat]);
    await waitFor("all places but one to be taken", () => state.begun === held.length);
    await world.reply("long", ["1", "2", "3"]);
    await world.reply("short", ["hello"]);
    await waitFor("all to be read", () => world.outbox.stats().pending === held.length + 4);
    stored.resolve();
    await waitFor("all that can be sent", () => world.texts().length === held.length + 4);
    expect(world.texts().slice(held.length)).toEqual(["1", "hello", "2", "3"]);
    release();
    await world.drained();
  });

  test("a reply that is stored while the outbox reads is sent without another wake", async () => {
    await using world = await outboxWorld({}, () => ({}));
    const reads = { held: Promise.withResolvers<void>(), asked: 0 };
    world.tamper((store) => ({
      ...store,
      async pending(...args) {
        const rows = await store.pending(...args);
        if (++reads.asked === 1) await reads.held.promise;
        return rows;
      },
    }));
    await world.reply("a", ["one"]);
    await waitFor("the outbox to read", () => reads.asked === 1);
    await world.reply("b", ["two"]);
    reads.held.resolve();
    await waitFor("both to be sent", () => world.texts().toSorted().join(" ") === "one two");
  });
});

describe("drained", () => {
  const waiting: readonly [string, Answer, (world: { ready: boolean }) => void][] = [
    ["waits for its next try", () => Promise.reject(new SendError("retry", "503")), () => undefined],
    [
      "waits for a pause that its platform asked for",
      () => Promise.reject(new SendError("limited", "429", { retryAfterMs: 5_000 })),
      () => undefined,
    ],
    ["waits for its channel", () => ({}), (world) => (world.ready = false)],
    ["is being sent", (_row, signal) => untilAborted(signal), () => undefined],
  ];
  test.each(waiting)("does not resolve while a reply %s", async (_name, answer, prepare) => {
    await using world = await outboxWorld({ repeat: "risky" }, answer);
    prepare(world);
    await world.reply("a", ["one"]);
    await waitFor("the outbox to have read it", () => world.outbox.stats().pending === 1);
    let resolved = false;
    const drained = world.outbox.drained(NEVER).then(() => (resolved = true));
    await world.clock.advance(500);
    expect(resolved).toBe(false);
    void drained;
  });

  test("does not resolve before it has read what was just stored", async () => {
    await using world = await outboxWorld({}, () => ({}));
    await world.drained();
    await world.reply("a", ["one"]);
    await world.outbox.drained(NEVER);
    expect(world.texts()).toEqual(["one"]);
  });

  test("does not resolve before a notice about a reply that was given up is sent", async () => {
    await using world = await outboxWorld({ repeat: "risky", whenLost: "hold" }, ({ message }) => {
      if (message.kind === "reply") throw new SendError("lost", "cut");
      return {};
    });
    await world.reply("a", ["one"]);
    await world.drained();
    expect(world.notices).toHaveLength(1);
  });
});

describe("a stop", () => {
  for (const repeat of KINDS)
    test(`keeps a part from being sent that it finds before its send, where a repeat is ${repeat}`, async () => {
      await using world = await outboxWorld({ repeat }, () => ({}));
      const read = Promise.withResolvers<void>();
      let asked = false;
      world.tamper((store) => ({
        ...store,
        async part(id) {
          const row = await store.part(id);
          asked = true;
          await read.promise;
          return row;
        },
      }));
      await world.reply("a", ["one"]);
      await waitFor("the part to be read", () => asked);
      const stopped = world.outbox[Symbol.asyncDispose]();
      read.resolve();
      await stopped;
      expect(world.sends).toEqual([]);
      world.tamper((store) => store);
      await world.restart();
      await world.drained();
      expect(world.texts()).toEqual(["one"]);
    });

  test("begins nothing that waits for a place: its part would be announced, and doubted by the next process", async () => {
    const stop = new AbortController();
    const sends = Promise.withResolvers<void>();
    const begun: string[] = [];
    const run = (one: { readonly gate: string; readonly name: string }) => (begun.push(one.name), sends.promise);
    const gates = createGates(1, run, stop.signal);
    for (const name of ["first", "second"]) gates.enter({ gate: "account", name });
    stop.abort(new Error("outbox stopped"));
    sends.resolve();
    await gates.settled();
    await createFakeClock().advance(0); // whatever would follow has followed
    expect(begun).toEqual(["first"]);
  });

  test("writes down what the channel says about the send that it cut off, and the next process has no doubt", async () => {
    let calls = 0;
    await using world = await outboxWorld({ repeat: "risky" }, async (_row, signal) => {
      if (calls++ > 0) return {};
      await untilAborted(signal).catch(() => undefined); // only that it was stopped counts here
      throw new SendError("retry", "it was not reached");
    });
    await world.reply("a", ["one"]);
    await waitFor("the send to begin", () => calls === 1);
    await world.restart();
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", lost: 0 });
  });

  test("waits for the reading of stored replies that is under way, so that nobody closes the store below it", async () => {
    await using world = await outboxWorld({}, () => ({}));
    const read = Promise.withResolvers<void>();
    let asked = false;
    world.tamper((store) => ({
      ...store,
      async pending(...args) {
        asked = true;
        await read.promise;
        return store.pending(...args);
      },
    }));
    world.outbox.wake();
    await waitFor("the reading to begin", () => asked);
    let stopped = false;
    const stop = world.outbox[Symbol.asyncDispose]().then(() => (stopped = true));
    await world.clock.advance(1_000);
    expect(stopped).toBe(false);
    read.resolve();
    await stop;
  });

  test("waits until what is being sent has come to its end", async () => {
    const state = { begun: 0, ended: 0 };
    const gate = Promise.withResolvers<void>();
    const release = gate.resolve;
    await using world = await outboxWorld({}, async () => {
      state.begun++;
      await gate.promise; // whatever the signal says
      state.ended++;
      return {};
    });
    await world.reply("a", ["one"]);
    await waitFor("the send to begin", () => state.begun === 1);
    let stopped = false;
    const stop = world.outbox[Symbol.asyncDispose]().then(() => (stopped = true));
    await world.clock.advance(1_000);
    expect(stopped).toBe(false);
    release();
    await stop;
    expect(state.ended).toBe(1);
  });
});

describe("the hour of a reply", () => {
  test("is not made longer by a pause that its platform asks for", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, ({ message }) => {
      if (message.kind === "notice") return {};
      throw new SendError("limited", "429", { retryAfterMs: 50 * 60_000 });
    });
    const storedAt = world.clock.now();
    world.ready = false;
    await world.reply("a", ["one"]);
    await world.clock.advance(HOUR_MS / 2);
    world.ready = true;
    await advanceUntil(
      { clock: world.clock, stepMs: 5_000 },
      "the reply to be given up",
      async () => (await world.rows())["turn_1:0"]?.state === "dead",
    );
    expect(world.clock.now() - storedAt).toBeLessThanOrEqual(HOUR_MS + 5_000);
  });

  test("ends in doubt, and not as undelivered, when a crash cut off its send and its channel never came back", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, () => new Promise(() => undefined));
    await world.reply("a", ["one"]);
    await waitFor("the send to begin", () => world.sends.length === 1);
    world.ready = false;
    await world.crash();
    await world.clock.advance(HOUR_MS + 2_000);
    await waitFor("its end", async () => (await world.rows())["turn_1:0"]?.because === "it waited too long to be sent");
    expect((await world.rows())["turn_1:0"]?.state).toBe("ambiguous");
  });

  test("may end in a pause of its platform: nothing is owed to its chat then, and what is said after the pause is sent", async () => {
    const PAUSE_MS = 300_000;
    await using world = await outboxWorld({ repeat: "risky" }, ({ message }) => {
      if (message.text === "old") throw new SendError("limited", "429", { retryAfterMs: PAUSE_MS });
      return {};
    });
    world.tamper((store) => ({ ...store, noteInChat: async () => false })); // nobody there waits for it, so nothing is said about it
    world.ready = false;
    await world.reply("a", ["old"]);
    await world.clock.advance(HOUR_MS - 60_000);
    world.ready = true;
    await advanceUntil(
      { clock: world.clock, stepMs: 5_000 },
      "the reply to be given up",
      async () => (await world.rows())["turn_1:0"]?.state === "dead",
    );
    expect(world.outbox.owes({ channel: "fake", account: "default", chat: "a" })).toBe(false); // or no preview is shown there
    await world.clock.advance(PAUSE_MS);
    await world.reply("a", ["new"]);
    await waitFor("what is said after the pause to be sent", () => world.texts().at(-1) === "new");
  });

  test("is the longest pause that a platform can ask for", async () => {
    let limited = true;
    await using world = await outboxWorld({}, () => {
      if (limited) throw new SendError("limited", "429", { retryAfterMs: 240 * HOUR_MS });
      return {};
    });
    await world.reply("a", ["one"]);
    await waitFor("the first try", () => world.sends.length === 1);
    limited = false;
    await world.clock.advance(HOUR_MS + 5_000);
    await waitFor("the second try", () => world.sends.length === 2);
  });
});

test("a channel that throws where it must not is asked again after a second, and then sends", async () => {
  let asked = 0;
  const ready = (): boolean => {
    if (++asked <= 3) throw new Error("not in its contract");
    return true;
  };
  await using world = await outboxWorld({ ready }, () => ({}));
  const startedAt = world.clock.now();
  await world.reply("a", ["one"]);
  await world.drained();
  expect(world.sends.map(({ at }) => at - startedAt >= 3_000)).toEqual([true]);
});

test("the count of replies that were given up keeps the newest ones, so that it is right a day later", async () => {
  const clock = createFakeClock();
  const trouble = createRecentTrouble(clock);
  const dayAgo = clock.now() - RECENT_MS;
  trouble.add("dead", ...Array.from({ length: MAX_RECENT }, () => dayAgo + 1));
  trouble.add("dead", clock.now());
  expect(trouble.counts().dead).toBe(MAX_RECENT);
  await clock.advance(1);
  expect(trouble.counts()).toEqual({ dead: 1, ambiguous: 0 });
});

test("a part that a previous process gave up is counted after a start", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => Promise.reject(new SendError("permanent", "403")));
  await world.reply("a", ["one"]);
  await world.drained();
  await world.restart();
  await waitFor("the count of the last day", () => world.outbox.stats().dead === 1);
});
