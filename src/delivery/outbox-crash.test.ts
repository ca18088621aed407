/** What a crash, a lost answer or a full disk does to a reply on its way, for each kind of channel. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Channel, SendError, type SendReceipt } from "../contracts/channel.ts";
import type { OutboxStore } from "../contracts/store.ts";
import { casesHere } from "../testing/postgres/home-database.ts";
import { type Answer, type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";
import { advanceUntil, waitFor } from "../testing/wait-for.ts";

const HOUR_MS = 3_600_000;
const never = <T>(): Promise<T> => new Promise(() => undefined);
const delivered: Answer = () => ({});

/** The platform has it, and the gateway dies before it can write that down. */
async function crashAfterSend(world: OutboxWorld, count: number): Promise<void> {
  world.tamper((store) => ({ ...store, markSent: never, settle: never }));
  await waitFor(`send ${count}`, () => world.sends.length === count);
  world.tamper((store) => store);
  await world.crash();
}

describe("a crash between a send and the note that it was sent", () => {
  const cases: readonly [string, Partial<Channel>, number, string][] = [
    ["sends it again where a repeat is safe", { repeat: "safe" }, 2, "sent"],
    ["sends it again where the platform drops the repeat", { repeat: "deduplicated" }, 2, "sent"],
    ["sends it again within the platform's memory", { repeat: "deduplicated", dedupeMs: 60_000 }, 2, "sent"],
    ["sends it once more where a repeat is risky, and says so", { repeat: "risky" }, 2, "ambiguous"],
    ["does not send it again where risky parts are held", { repeat: "risky", whenLost: "hold" }, 1, "ambiguous"],
  ];
  for (const [name, about, sends, state] of cases) {
    test(name, async () => {
      await using world = await outboxWorld(about, delivered);
      await world.reply("a", ["one", "two"]);
      await crashAfterSend(world, 1);
      await world.drained();
      const count = (text: string) => world.texts().filter((sent) => sent === text).length;
      expect([count("one"), count("two")]).toEqual([sends, 1]);
      expect(await world.rows()).toMatchObject({ "turn_1:0": { state }, "turn_1:1": { state: "sent" } });
      expect(world.outbox.stats().ambiguous).toBe(state === "ambiguous" ? 1 : 0);
      expect(world.statuses).toEqual(state === "ambiguous" ? ["outbox"] : []);
      await world.crash();
      await world.drained();
      expect(world.sends).toHaveLength(sends + 1);
    });
  }

  test("a crash in the one risky repeat is never followed by another repeat", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, delivered);
    await world.reply("a", ["one"]);
    await crashAfterSend(world, 1);
    await crashAfterSend(world, 2);
    for (let life = 0; life < 3; life++) {
      await world.drained();
      await world.crash();
    }
    expect(world.texts()).toEqual(["one", "one"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({
      state: "ambiguous",
      because: "the answer to a send was lost",
    });
  });

  test("a send after the platform's deduplication time is a risky repeat", async () => {
    await using world = await outboxWorld({ repeat: "deduplicated", dedupeMs: 60_000 }, delivered);
    await world.reply("a", ["one"]);
    world.tamper((store) => ({ ...store, settle: never }));
    await waitFor("the first send", () => world.sends.length === 1);
    world.tamper((store) => store);
    await world.clock.advance(59_000);
    world.ready = false;
    await world.crash();
    await world.clock.advance(10_000);
    world.ready = true;
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([["one", "one"], "ambiguous"]);
  });

  test("a send that a crash cut off more than an hour ago is not repeated, and ends in doubt", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, delivered);
    await world.reply("a", ["one"]);
    world.tamper((store) => ({ ...store, settle: never }));
    await waitFor("the first send", () => world.sends.length === 1);
    world.tamper((store) => store);
    await world.clock.advance(HOUR_MS);
    await world.crash();
    await world.drained();
    expect(world.texts()).toEqual(["one"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({
      state: "ambiguous",
      because: "it waited too long to be sent",
    });
  });

  test("a crash after part one resumes at part two", async () => {
    await using world = await outboxWorld({ repeat: "deduplicated" }, delivered);
    const hold = (store: OutboxStore): OutboxStore => ({
      ...store,
      settle: (id, ...rest) => (id === "turn_1:1" ? never() : store.settle(id, ...rest)),
    });
    world.tamper(hold);
    await world.reply("a", ["one", "two", "three"]);
    await waitFor("the second send", () => world.sends.length === 2);
    world.tamper((store) => store);
    await world.crash();
    await world.drained();
    expect(world.texts()).toEqual(["one", "two", "two", "three"]);
  });
});

describe("a lost answer", () => {
  const losing = (times: number): Answer => {
    let left = times;
    return () => {
      if (left-- > 0) throw new SendError("lost", "the line broke");
      return { providerId: "p" };
    };
  };

  test("a lost answer is followed by one more send where a repeat is risky, and the part is in doubt", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, losing(1));
    await world.reply("a", ["one", "two"]);
    await world.drained();
    expect(world.texts()).toEqual(["one", "one", "two"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "ambiguous", providerId: "p", attempts: 2 });
    expect(world.log.lines.map(({ words }) => words)).toContain(
      "reply in doubt: it may have arrived twice, or not at all",
    );
  });

  test("a second lost answer ends the part where a repeat is risky", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, losing(2));
    await world.reply("a", ["one"]);
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([["one", "one"], "ambiguous"]);
  });

  test("a lost answer ends the part at once where risky parts are held", async () => {
    await using world = await outboxWorld({ repeat: "risky", whenLost: "hold" }, losing(1));
    await world.reply("a", ["one"]);
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([["one"], "ambiguous"]);
  });

  test("a lost answer is followed by another try where the platform drops repeats", async () => {
    await using world = await outboxWorld({ repeat: "deduplicated" }, losing(3));
    await world.reply("a", ["one"]);
    await world.drained();
    expect([world.sends.length, (await world.rows())["turn_1:0"]?.state]).toEqual([4, "sent"]);
  });
});

describe("a disk that refuses", () => {
  test("a disk that refuses does not make the outbox send a part again that the platform has", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, delivered);
    let full = 3;
    world.tamper((store) => ({
      ...store,
      settle: (...args) => (full-- > 0 ? Promise.reject(new Error("disk full")) : store.settle(...args)),
    }));
    await world.reply("a", ["one"]);
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([["one"], "sent"]);
  });

  test("a risky part is not sent before the store has its claim", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, delivered);
    let full = true;
    world.tamper((store) => ({
      ...store,
      markSending: (...args) => (full ? Promise.reject(new Error("disk full")) : store.markSending(...args)),
    }));
    await world.reply("a", ["one"]);
    await world.clock.advance(5_000);
    expect(world.sends).toEqual([]);
    full = false;
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", attempts: 1 });
  });

  test("a channel with safe repeats costs no claim", async () => {
    await using world = await outboxWorld({}, delivered);
    const calls: string[] = [];
    world.tamper((store) => ({
      ...store,
      markSending: (...args) => (calls.push("sending"), store.markSending(...args)),
      markSent: (...args) => (calls.push("sent"), store.markSent(...args)),
    }));
    await world.reply("a", ["one"]);
    await world.drained();
    expect(calls).toEqual(["sent"]);
  });
});

/** What happens to one send: whether the platform has it, and what the gateway hears. */
const FATES = [
  "fine",
  "retry",
  "limited",
  "error before",
  "error after",
  "lost before",
  "lost after",
  "crash",
] as const;
const fate = fc.constantFrom("fine", ...FATES);
type Fate = (typeof FATES)[number];

interface Played {
  /** What each chat shows, repeats dropped as this platform does. */
  readonly shown: Map<string, string[]>;
  readonly arrivals: Map<string, number>;
  readonly doubts: Set<string>;
}

async function play(about: Partial<Channel>, fates: readonly Fate[], chats: readonly string[][]): Promise<Played> {
  const shown: Played["shown"] = new Map();
  const arrivals: Played["arrivals"] = new Map();
  const doubts: Played["doubts"] = new Set();
  const left = [...fates];
  let crashing = false;
  const arrive = (id: string, chat: string, text: string): SendReceipt => {
    const before = arrivals.get(id) ?? 0;
    arrivals.set(id, before + 1);
    if (before === 0 || about.repeat === "risky") shown.set(chat, [...(shown.get(chat) ?? []), text]);
    return {};
  };
  await using world = await outboxWorld(about, ({ id, to, message }) => {
    const next = left.shift() ?? "fine";
    if (next === "retry") throw new SendError("retry", "503");
    if (next === "limited") throw new SendError("limited", "429", { retryAfterMs: 1_500 });
    if (next.endsWith("after") || next === "fine" || next === "crash") arrive(id, to.chat, message.text);
    if (next.startsWith("lost") || next.startsWith("error")) {
      doubts.add(id);
      throw next.startsWith("lost") ? new SendError("lost", "cut") : new Error("not in its contract");
    }
    if (next !== "crash") return {};
    crashing = true;
    return never();
  });
  for (const [index, parts] of chats.entries()) await world.reply(`chat${index}`, parts);
  for (let quiet = false; !quiet;) {
    const { outbox } = world;
    void outbox.drained(new AbortController().signal).then(() => (quiet = outbox === world.outbox));
    await advanceUntil(
      { clock: world.clock, stepMs: 250 },
      "an outbox that rests, or a crash",
      () => quiet || crashing,
    );
    if (!crashing) continue;
    crashing = false;
    for (const id of await world.crash()) doubts.add(id);
  }
  for (const [id, { state }] of Object.entries(await world.rows()))
    expect([id, state]).toEqual([id, about.repeat === "risky" && doubts.has(id) ? "ambiguous" : "sent"]);
  return { shown, arrivals, doubts };
}

describe("whatever happens to its sends", () => {
  const fates = fc.array(fate, { maxLength: 14 });
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 });
  const chatsOf = (counts: readonly number[]) =>
    counts.map((count, chat) => Array.from({ length: count }, (_, part) => `${chat}.${part}`));

  for (const repeat of ["safe", "deduplicated"] as const)
    test(`every part is shown once and in order where a repeat is ${repeat}`, async () => {
      await fc.assert(
        fc.asyncProperty(fates, sizes, async (script, counts) => {
          const chats = chatsOf(counts);
          const { shown } = await play({ repeat }, script, chats);
          expect([...shown].toSorted()).toEqual(chats.map((parts, index) => [`chat${index}`, parts]));
        }),
        { numRuns: casesHere(20) },
      );
    }, 60_000);

  test("no part is shown more than twice where a repeat is risky, and only parts in doubt are shown twice or never", async () => {
    await fc.assert(
      fc.asyncProperty(fates, sizes, async (script, counts) => {
        const chats = chatsOf(counts);
        const { shown, arrivals, doubts } = await play({ repeat: "risky" }, script, chats);
        for (const [chat, texts] of shown) expect([chat, texts]).toEqual([chat, texts.toSorted()]);
        const ids = chats.flatMap((parts, chat) => parts.map((_, part) => `turn_${chat + 1}:${part}`));
        for (const id of ids) {
          const times = arrivals.get(id) ?? 0;
          expect(times).toBeLessThanOrEqual(2);
          if (!doubts.has(id)) expect([id, times]).toEqual([id, 1]);
        }
      }),
      { numRuns: casesHere(20) },
    );
  }, 60_000);
});
