/** A stop of the outbox while a step of a part fails for good, on every way that a part can take: it ends, and leaves no timer. */
import { describe, expect, test } from "bun:test";
import { type Channel, SendError } from "../contracts/channel.ts";
import { orAborted } from "../kit/deferred.ts";
import type { OutboxStore } from "../contracts/store.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { type Answer, type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";

const HOUR_MS = 3_600_000;

interface Way {
  /** How the part gets there. */
  readonly when: string;
  /** The call of the store, or of the channel, that fails for good. */
  readonly broken:
    "settle" | "part" | "markSending" | "delivered" | "noteInChat" | "markWaiting" | "platformIds" | "mayReceive";
  /** So many calls of it before that, by which the part comes to where it is meant to be. */
  readonly works?: number;
  readonly about?: Partial<Channel>;
  readonly answer?: Answer;
  readonly to?: Parameters<OutboxWorld["reply"]>[2];
  readonly store?: Partial<OutboxStore>;
  readonly ready?: boolean;
  readonly waitsMs?: number;
}

const RISKY = { repeat: "risky", whenLost: "hold" } as const;
/** Of two messages, of which the first is never done. */
const SEVERAL = { ...RISKY, messages: { delivered: async () => 0, skip: async () => true } };
const lost: Answer = () => Promise.reject(new SendError("lost", "cut"));
const fine: Answer = () => ({});

const WAYS: readonly Way[] = [
  { when: "it expired while its channel was away", broken: "settle", about: RISKY, ready: false, waitsMs: HOUR_MS },
  {
    when: "its chat cannot be told that it expired",
    broken: "noteInChat",
    about: RISKY,
    ready: false,
    waitsMs: HOUR_MS,
  },
  { when: "its channel never came", broken: "settle", to: { channel: "unknown" }, waitsMs: HOUR_MS },
  { when: "it is not in the store", broken: "settle", store: { part: async () => null } },
  { when: "it cannot be read", broken: "part" },
  { when: "nobody can say whether its chat may get it", broken: "mayReceive" },
  { when: "the message that it answers cannot be looked up", broken: "platformIds", to: { replyTo: "msg_1" } },
  {
    when: "it is refused, and cannot be read once more to say so",
    broken: "part",
    works: 1,
    answer: () => Promise.reject(new SendError("permanent", "403")),
  },
  {
    when: "it expired between two tries",
    broken: "settle",
    about: { repeat: "risky" },
    answer: () => Promise.reject(new SendError("limited", "429", { retryAfterMs: HOUR_MS })),
    waitsMs: HOUR_MS,
  },
  { when: "its send cannot be announced", broken: "markSending", about: RISKY },
  { when: "its channel cannot say how far it came", broken: "delivered", works: 1, about: SEVERAL, answer: lost },
  { when: "it is in doubt", broken: "settle", about: RISKY, answer: lost },
  {
    when: "a message of it is in doubt, and its chat cannot be told",
    broken: "noteInChat",
    about: SEVERAL,
    answer: lost,
  },
  { when: "a message of it is left in doubt", broken: "markWaiting", works: 1, about: SEVERAL, answer: lost },
];

/** At once, without a timer that is left, without a part that counts as sent, and without a step that fell over what it did not get. */
async function stopped(world: OutboxWorld): Promise<void> {
  await waitForEnd("the stop", Promise.resolve(world.outbox[Symbol.asyncDispose]()), { withinMs: 2_000 });
  expect(world.clock.pending()).toBe(0);
  expect(world.outbox.stats().pending).toBeGreaterThan(0); // a part that was not sent is still owed, and nobody is told that all is sent
  expect(world.log.lines.map(({ words }) => words)).not.toContain("outbox step failed");
}

describe("a stop while a part cannot go on", () => {
  test.each(WAYS.map((way) => [way.when, way.broken, way] as const))(
    "because %s, and %s fails for good, ends and leaves no timer",
    async (_when, broken, { about = {}, answer = fine, to = {}, store: more = {}, ready = true, ...way }) => {
      const { works = 0, waitsMs = 10_000 } = way;
      let failed = 0;
      const fail = (): Promise<never> => {
        failed++;
        return Promise.reject(new Error(`${broken} is refused`));
      };
      let calls = 0;
      const messages = { delivered: async () => (calls++ < works ? 0 : fail()), skip: async () => true };
      await using world = await outboxWorld(broken === "delivered" ? { ...about, messages } : about, answer);
      world.ready = ready;
      if (broken === "platformIds" || broken === "mayReceive") world[broken] = fail as never;
      else if (broken !== "delivered")
        world.tamper((store) => ({
          ...store,
          ...more,
          [broken]: (...args: never[]) => (calls++ < works ? Reflect.apply(store[broken], store, args) : fail()),
        }));
      await world.reply("a", ["one two"], to);
      await world.clock.advance(waitsMs);
      await world.clock.advance(2_000);
      await waitFor("the failing step", () => failed > 0);
      await stopped(world);
      // whoever waits for it could not be told yet, so the next process has to find it
      if (broken === "noteInChat") expect(["dead", "ambiguous"]).not.toContain((await world.rows())["turn_1:0"]?.state);
    },
  );

  test.each(["delivered", "skip"] as const)("hands its signal to the channel that is asked for %s", async (asked) => {
    const seen: AbortSignal[] = [];
    const hang = (_row: unknown, signal: AbortSignal) => {
      seen.push(signal);
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      });
    };
    await using world = await outboxWorld({ ...SEVERAL, messages: { ...SEVERAL.messages, [asked]: hang } }, lost);
    await world.reply("a", ["one two"]);
    await world.clock.advance(10_000);
    await waitFor("the question", () => seen.length > 0);
    await stopped(world);
    expect(seen[0]?.aborted).toBe(true);
  });

  test("leaves a send that its channel breaks off without a word as begun, so that the next process knows of the doubt", async () => {
    let begun = false;
    await using world = await outboxWorld(RISKY, (_row, signal) => {
      begun = true;
      return orAborted(new Promise<never>(() => undefined), signal);
    });
    await world.reply("a", ["one"]);
    await waitFor("the send", () => begun);
    await stopped(world);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sending", because: null });
  });
});
