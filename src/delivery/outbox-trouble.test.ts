/** The outbox with a store, a check or a channel that fails at any of its steps: nothing is lost, repeated or left behind, and a stop ends. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { OutboxState } from "../contracts/delivery.ts";
import type { OutboxStore } from "../contracts/store.ts";
import { orAborted } from "../kit/deferred.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { type Answer, type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";
import { MAX_SENDING } from "./outbox.ts";

const hanging = (signal: AbortSignal): Promise<never> => orAborted(new Promise(() => undefined), signal);

const STEPS = ["pending", "part", "markSending", "markWaiting", "markSent", "settle", "noteInChat"] as const;
type Step = (typeof STEPS)[number];

/** The calls of one step fail for as long as `broken` says so. */
function breaking(world: OutboxWorld, step: Step, broken: () => boolean) {
  const state = { failed: 0 };
  world.tamper((store) => ({
    ...store,
    [step]: (...args: unknown[]): Promise<unknown> => {
      if (!broken()) return Reflect.apply(store[step], store, args) as Promise<unknown>;
      state.failed++;
      return Promise.reject(new Error(`the disk refuses ${step}`));
    },
  }));
  return state;
}

/** A first send that fails, a part that must not be repeated, one that is refused for good, and one that arrives. */
const mixed = (): Answer => {
  const sends = new Map<string, number>();
  return ({ message: { text, kind } }) => {
    const count = (sends.get(text) ?? 0) + 1;
    sends.set(text, count);
    if (kind === "notice") return {};
    if (text === "busy" && count === 1) throw new SendError("retry", "503");
    if (text === "lost") throw new SendError("lost", "cut");
    if (text === "blocked") throw new SendError("permanent", "403");
    return {};
  };
};
const TEXTS = ["fine", "busy", "lost", "blocked", "last"];
const ABOUT = {
  risky: { repeat: "risky", whenLost: "hold" },
  safe: { repeat: "safe" },
} as const satisfies Record<string, Partial<Channel>>;
const needs = (step: Step): Partial<Channel> => (step === "markSent" ? ABOUT.safe : ABOUT.risky);

/** The stop of the outbox, which waits for nothing that may never come. */
const stopped = (world: OutboxWorld): Promise<void> =>
  waitForEnd("the stop", Promise.resolve(world.outbox[Symbol.asyncDispose]()), { withinMs: 2_000 });

describe("a store that refuses", () => {
  for (const step of STEPS) {
    test(`${step} three times is asked again each second, and every part ends as it would have`, async () => {
      await using world = await outboxWorld(needs(step), mixed());
      let failures = 3;
      const state = breaking(world, step, () => failures-- > 0);
      await world.reply("a", step === "markSent" ? TEXTS.filter((text) => text !== "lost") : TEXTS);
      await world.drained();
      expect(state.failed).toBe(3);
      expect(Object.values(await world.rows()).map((row) => row.state)).toEqual(
        step === "markSent" ? ["sent", "sent", "dead", "sent"] : ["sent", "sent", "ambiguous", "dead", "sent", "sent"], // the last is the notice of the one in doubt
      );
      const others = TEXTS.filter((text) => text !== "busy" && world.texts().includes(text));
      for (const text of others) expect([text, world.texts().filter((one) => one === text)]).toEqual([text, [text]]);
    });
  }

  for (const [text, step] of TEXTS.concat("withheld").flatMap((one) => STEPS.map((step) => [one, step] as const)))
    test(`${step} for good does not keep a stop waiting, and leaves no timer, for a part that is "${text}"`, async () => {
      await using world = await outboxWorld(needs(step), mixed());
      world.mayReceive = ({ message }) => message.text !== "withheld";
      breaking(world, step, () => true);
      await world.reply("a", [text]);
      await world.clock.advance(3_000);
      await stopped(world);
      expect(world.clock.pending()).toBe(0);
    });

  test("to count what an earlier process gave up is asked again, and replies are sent then", async () => {
    await using world = await outboxWorld({}, () => ({}));
    let refusing = true;
    world.tamper((store) => ({
      ...store,
      endsSince: (...args) => (refusing ? Promise.reject(new Error("no")) : store.endsSince(...args)),
    }));
    await world.restart();
    await world.reply("a", ["one"]);
    await world.clock.advance(5_000);
    refusing = false;
    await world.drained();
    expect(world.texts()).toEqual(["one"]);
  });
});

describe("a check of access that fails", () => {
  test("is asked again each second, and nothing is sent before it has answered", async () => {
    await using world = await outboxWorld({}, () => ({}));
    let failures = 3;
    world.mayReceive = () => {
      if (failures-- > 0) throw new Error("the rights cannot be read");
      return true;
    };
    const startedAt = world.clock.now();
    await world.reply("a", ["one"]);
    await world.drained();
    expect(world.sends.map(({ at }) => at - startedAt >= 3_000)).toEqual([true]);
  });

  test("does not keep a stop waiting", async () => {
    await using world = await outboxWorld({}, () => ({}));
    let asked = 0;
    world.mayReceive = () => {
      asked++;
      throw new Error("the rights cannot be read");
    };
    await world.reply("a", ["one"]);
    await waitFor("the check", () => asked > 0);
    await stopped(world);
    expect([world.sends, world.clock.pending()]).toEqual([[], 0]);
  });
});

describe("a channel that cannot say how far a part of several messages has come", () => {
  test.each(["delivered", "skip"] as const)("does not keep a stop waiting when %s fails for good", async (broken) => {
    const fail = () => Promise.reject(new Error("the note cannot be read"));
    const messages = { delivered: async () => 0, skip: async () => true, [broken]: fail };
    await using world = await outboxWorld({ ...ABOUT.risky, messages }, mixed());
    await world.reply("a", ["lost"]);
    await world.clock.advance(3_000);
    await stopped(world);
    expect(world.clock.pending()).toBe(0);
  });

  test("is asked again until it can, and the part is sent then", async () => {
    let failures = 3;
    const delivered = async (): Promise<number> => {
      if (failures-- > 0) throw new Error("the note cannot be read");
      return 0;
    };
    await using world = await outboxWorld({ messages: { delivered, skip: async () => false } }, () => ({}));
    await world.reply("a", ["one"]);
    await world.drained();
    expect(world.texts()).toEqual(["one"]);
  });
});

describe("a stop leaves no timer behind", () => {
  const waits: readonly [string, Answer, (world: OutboxWorld) => void][] = [
    ["a part waits for its next try", () => Promise.reject(new SendError("retry", "503")), () => undefined],
    [
      "a chat rests after a part that was refused",
      () => Promise.reject(new SendError("limited", "429", { retryAfterMs: 60_000 })),
      () => undefined,
    ],
    ["a channel is not ready", () => ({}), (world) => (world.ready = false)],
    ["nothing is to be sent", () => ({}), () => undefined],
  ];
  test.each(waits)("when %s", async (_name, answer, prepare) => {
    await using world = await outboxWorld({ repeat: "risky" }, answer);
    prepare(world);
    await world.reply("a", ["one"]);
    await world.clock.advance(3_000);
    await world.outbox[Symbol.asyncDispose]();
    expect(world.clock.pending()).toBe(0);
  });
});

describe("the send of a part", () => {
  test("leaves no time limit behind, however it ends", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, mixed());
    await world.reply("a", TEXTS);
    await world.drained();
    expect(world.clock.pending()).toBe(0);
  });

  test("is told to stop when its minute is over", async () => {
    const seen: AbortSignal[] = [];
    await using world = await outboxWorld({ repeat: "risky", whenLost: "hold" }, ({ message }, signal) => {
      if (message.kind === "notice") return {};
      seen.push(signal);
      return new Promise(() => undefined);
    });
    await world.reply("a", ["one"]);
    await waitFor("the send", () => seen.length === 1);
    await world.clock.advance(59_999);
    expect(seen[0]?.aborted).toBe(false);
    await world.clock.advance(1);
    expect(seen[0]?.aborted).toBe(true);
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "ambiguous", lost: 1 });
  });

  test.each([
    ["a text", "out of paper", "out of paper"],
    ["nothing", "", "the channel did not say why"],
    ["an error with words", new Error("out of paper"), "out of paper"],
    ["a very long text", new SendError("retry", "x".repeat(2_000)), "x".repeat(300)],
  ])("that fails with %s is tried again, and the reason is kept", async (_what, thrown, because) => {
    let sends = 0;
    await using world = await outboxWorld({}, () => (sends++ === 0 ? Promise.reject(thrown) : {}));
    await world.reply("a", ["one"]);
    await waitFor("the first try", async () => (await world.rows())["turn_1:0"]?.because !== null);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "pending", because });
    await world.drained();
    expect(sends).toBe(2);
  });
});

describe("a part that answers a message", () => {
  const answered = async (about: Partial<Channel>, ids: readonly string[]): Promise<unknown> => {
    const seen: unknown[] = [];
    await using world = await outboxWorld(about, ({ message }) => (seen.push(message), {}));
    const asked: string[] = [];
    world.platformIds = (id) => (asked.push(id), ids);
    await world.reply("a", ["one"], { replyTo: "msg_1" });
    await world.drained();
    return [asked, seen];
  };
  const sent = (more: object) => [expect.objectContaining({ text: "one", ...more })];

  test("names it as its platform does", async () => {
    expect(await answered({}, ["501", "502"])).toEqual([["msg_1"], sent({ replyTo: "501" })]);
  });

  test("names none when its platform has no id for it", async () => {
    const [, seen] = (await answered({}, [])) as [unknown, readonly object[]];
    expect(seen).toEqual(sent({}));
    expect(seen[0]).not.toHaveProperty("replyTo");
  });

  test("names it by our own id on the gateway's own channel", async () => {
    expect(await answered({ ownIds: true }, ["501"])).toEqual([[], sent({ replyTo: "msg_1" })]);
  });
});

test("a message of a reply that was in doubt keeps the whole reply in doubt, however well the others arrive", async () => {
  const done = { count: 0, lost: 1 };
  const messages = { delivered: async () => done.count, skip: async () => false };
  await using world = await outboxWorld({ repeat: "risky", messages }, () => {
    if (done.count === 1 && done.lost-- > 0) throw new SendError("lost", "cut");
    if (++done.count < 5) throw new SendError("retry", "503"); // one message at a time
    return {};
  });
  await world.reply("a", ["one two three four five"]);
  await world.drained();
  expect((await world.rows())["turn_1:0"]).toMatchObject({
    state: "ambiguous",
    because: "the answer to a send was lost",
  });
});

test("a reply of several messages of which none was lost is sent, however often it was tried again in between", async () => {
  let done = 0;
  const messages = { delivered: async () => done, skip: async () => false };
  await using world = await outboxWorld({ repeat: "risky", messages }, () => {
    if (++done < 4) throw new SendError("retry", "503"); // one message at a time
    return {};
  });
  await world.reply("a", ["one two three four"]);
  await world.drained();
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", because: null });
});

test("a chat that is paused after its last part is forgotten when the pause is over: nothing is tried, nothing fails, no timer is left", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => {
    throw new SendError("limited", "429", { retryAfterMs: 3_600_000 });
  });
  world.ready = false;
  await world.reply("a", ["one"]);
  await world.clock.advance(10_000);
  world.ready = true;
  await world.clock.advance(3 * 3_600_000); // the reply expires, and so does the notice about it
  expect(world.told).toEqual([["turn_1:n", "dead", "it waited too long to be sent"]]);
  expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  expect([world.outbox.stats().pending, world.clock.pending()]).toEqual([0, 0]);
});

test.each<[number, OutboxState]>([
  [59, "sent"],
  [61, "ambiguous"],
])(
  "a repeat %d s after the first try is %s where the platform remembers what it has for a minute",
  async (s, state) => {
    const startedAt = { at: 0 };
    await using world = await outboxWorld({ repeat: "deduplicated", dedupeMs: 60_000 }, () => {
      if (startedAt.at === 0) {
        startedAt.at = world.clock.now();
        throw new SendError("lost", "cut");
      }
      const restMs = startedAt.at + s * 1_000 - world.clock.now();
      if (restMs > 0) throw new SendError("limited", "429", { retryAfterMs: restMs });
      return {};
    });
    await world.reply("a", ["one"]);
    await world.drained();
    expect((await world.rows())["turn_1:0"]?.state).toBe(state);
  },
);

test("a reply whose answer was lost is in doubt at once where such messages are held, and its chat does not wait for a pause", async () => {
  await using world = await outboxWorld(ABOUT.risky, mixed());
  await world.reply("a", ["lost"]);
  const state = async () => {
    await world.clock.advance(0);
    return (await world.rows())["turn_1:0"]?.state;
  };
  await waitFor("the end of the part", state, (seen) => seen === "ambiguous", { withinMs: 3_000 });
});

test("a long doubt that a channel reports is stored shortened", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => ({ doubt: "x".repeat(2_000) }));
  await world.reply("a", ["one"]);
  await world.drained();
  expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "ambiguous", because: "x".repeat(300) });
});

test("an account that hangs in all its chats does not keep the account of the same name on another channel from sending", async () => {
  await using world = await outboxWorld({}, ({ to }, signal) => (to.channel === "fake" ? hanging(signal) : {}));
  for (let chat = 0; chat < MAX_SENDING; chat++) await world.reply(`c${chat}`, ["slow"]);
  await waitFor("all places to be taken", () => world.sends.length === MAX_SENDING);
  await world.reply("c0", ["quick"], { channel: "other" });
  await waitFor("the other channel to send", () => world.texts().at(-1) === "quick");
});

test("a reply that is stored while the outbox reads is owed until it is sent", async () => {
  await using world = await outboxWorld({}, () => ({}));
  await world.drained();
  const read = Promise.withResolvers<void>();
  const sending = Promise.withResolvers<void>();
  let reads = 0;
  world.tamper((store) => ({
    ...store,
    async pending(...args) {
      const rows = await store.pending(...args);
      if (++reads === 1) await read.promise;
      else await sending.promise;
      return rows;
    },
  }));
  world.outbox.wake();
  await waitFor("the first read", () => reads === 1);
  await world.reply("a", ["one"]);
  let drained = false;
  void world.outbox.drained(new AbortController().signal).then(() => (drained = true));
  read.resolve();
  await waitFor("the second read", () => reads === 2);
  expect([drained, world.outbox.owes({ channel: "fake", account: "default", chat: "a" })]).toEqual([false, true]);
  sending.resolve();
  await waitFor("the end", () => drained);
  expect(world.texts()).toEqual(["one"]);
});

test("a reply that was in doubt is counted after a start", async () => {
  await using world = await outboxWorld(ABOUT.risky, mixed());
  await world.reply("a", ["lost"]);
  await world.drained();
  await world.restart();
  await waitFor("the count of the last day", () => world.outbox.stats().ambiguous === 1);
});

test("the newest of very many replies that were given up are counted after a start, so that the count is right a day later", async () => {
  await using world = await outboxWorld({ repeat: "risky" }, () => Promise.reject(new SendError("permanent", "403")));
  const now = world.clock.now();
  const DAY_MS = 86_400_000;
  const latestFirst = Array.from({ length: 1_000 }, (_, at) => now - at * 60_000);
  world.tamper((store: OutboxStore) => ({
    ...store,
    endsSince: async (state) => (state === "dead" ? latestFirst : []),
  }));
  await world.restart();
  await world.reply("a", ["one"]);
  await world.drained();
  expect(world.outbox.stats().dead).toBe(1_000);
  await world.clock.advance(DAY_MS - 500 * 60_000);
  expect(world.outbox.stats().dead).toBe(501);
});
