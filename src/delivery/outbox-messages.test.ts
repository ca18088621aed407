/** Parts that a channel sends as several messages: doubt about one message costs none of the others, and what is given up is told. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Channel, SendError } from "../contracts/channel.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import { casesHere } from "../testing/postgres/home-database.ts";
import { advanceUntil } from "../testing/wait-for.ts";
import { type OutboxWorld, outboxWorld } from "../testing/worlds/outbox-world.ts";

const MESSAGES = ["a", "b", "c", "d", "e"] as const;
const HOUR_MS = 3_600_000;
const never = <T>(): Promise<T> => new Promise(() => undefined);

type Fate = "arrives" | "lost before" | "lost after" | "retry" | "permanent" | "crash before" | "crash after";

interface Platform {
  readonly channel: Pick<Channel, "messages" | "repeat" | "whenLost">;
  /** What the chat shows. */
  readonly shown: string[];
  /** What becomes of the sends of a message, in order; then they arrive. */
  readonly fates: Map<string, Fate[]>;
  crashing: boolean;
  send(row: OutboxRow): Promise<object>;
}

/** Splits a text into its letters and remembers, as a channel does on disk, how many of them are done. */
function platformOf(about: Pick<Channel, "repeat" | "whenLost">): Platform {
  const done = new Map<string, number>();
  const doneOf = ({ id }: OutboxRow): number => done.get(id) ?? 0;
  const platform: Platform = {
    channel: {
      ...about,
      messages: {
        delivered: async (row) => doneOf(row),
        async skip(row) {
          if (doneOf(row) + 1 >= row.message.text.split(" ").length) return false;
          done.set(row.id, doneOf(row) + 1);
          return true;
        },
      },
    },
    shown: [],
    fates: new Map(),
    crashing: false,
    async send(row) {
      const texts = row.message.kind === "notice" ? [row.message.text] : row.message.text.split(" ");
      for (const text of texts.slice(doneOf(row))) {
        const fate = platform.fates.get(text)?.shift() ?? "arrives";
        if (fate === "retry") throw new SendError("retry", "503");
        if (fate === "permanent") throw new SendError("permanent", "403 blocked");
        if (!fate.endsWith("before")) platform.shown.push(text);
        if (fate.startsWith("crash")) {
          platform.crashing = true;
          return never();
        }
        if (fate.startsWith("lost")) throw new SendError("lost", "cut");
        done.set(row.id, doneOf(row) + 1);
      }
      return { providerId: "p" };
    },
  };
  return platform;
}

const worldOf = (platform: Platform) => outboxWorld(platform.channel, (row) => platform.send(row));

/** Until nothing is pending, through as many crashes as the platform causes. */
async function settled(world: OutboxWorld, platform: Platform): Promise<void> {
  for (let quiet = false; !quiet;) {
    const { outbox } = world;
    void outbox.drained(new AbortController().signal).then(() => (quiet = outbox === world.outbox));
    await advanceUntil(
      { clock: world.clock, stepMs: 250 },
      "an outbox that rests, or a crash",
      () => quiet || platform.crashing,
    );
    if (!platform.crashing) continue;
    platform.crashing = false;
    await world.crash();
  }
}

async function play(about: Pick<Channel, "repeat" | "whenLost">, fates: readonly (readonly [string, Fate[]])[]) {
  const platform = platformOf(about);
  for (const [text, fate] of fates) platform.fates.set(text, [...fate]);
  await using world = await worldOf(platform);
  await world.reply("chat", [MESSAGES.join(" ")]);
  await settled(world, platform);
  const notices = platform.shown.filter((text) => text.length > 1);
  const letters = platform.shown.filter((text) => text.length === 1);
  return { letters, notices, row: (await world.rows())["turn_1:0"], told: world.told, world };
}

describe("a reply of several messages", () => {
  const doubtful: readonly Fate[] = ["lost before", "lost after", "crash before", "crash after"];
  for (const fate of doubtful)
    test(`arrives whole when one send of every message is "${fate}"`, async () => {
      const { letters, notices, row } = await play(
        { repeat: "risky" },
        MESSAGES.map((text) => [text, [fate]]),
      );
      const twice = fate.endsWith("after");
      expect(letters).toEqual(twice ? MESSAGES.flatMap((text) => [text, text]) : [...MESSAGES]);
      expect(row?.state).toBe("ambiguous");
      expect(notices).toEqual([]); // every message is known to have arrived
    });

  for (const fate of doubtful)
    test(`goes on with its next message when every send of one is "${fate}", and its chat is told of the gap`, async () => {
      const { letters, notices, row } = await play({ repeat: "risky" }, [["c", [fate, fate, fate, fate]]]);
      const arrived = fate.endsWith("after") ? ["c", "c"] : [];
      expect(letters).toEqual(["a", "b", ...arrived, "d", "e"]);
      expect(notices).toEqual([expect.stringMatching(/may be missing/)]);
      expect(row?.state).toBe("ambiguous");
    });

  test("repeats no message where doubtful ones are held back, sends all others and tells its chat", async () => {
    const fates = MESSAGES.slice(0, 3).map((text): [string, Fate[]] => [text, ["lost before"]]);
    const { letters, notices } = await play({ repeat: "risky", whenLost: "hold" }, fates);
    expect([letters, notices.length]).toEqual([["d", "e"], 1]);
  });

  test("whose last message is in doubt ends there, and its chat is told", async () => {
    const { letters, notices } = await play({ repeat: "risky" }, [["e", ["lost before", "lost before"]]]);
    expect([letters, notices.length]).toEqual([["a", "b", "c", "d"], 1]);
  });

  test("shows every message once, twice when there was doubt, and leaves out none that was not in doubt twice", async () => {
    const fate = fc.constantFrom<Fate[]>("arrives", "arrives", "retry", ...doubtful);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fate, { maxLength: 3 }), { minLength: 5, maxLength: 5 }), async (script) => {
        const fates = MESSAGES.map((text, at): [string, Fate[]] => [text, (script[at] ?? []) as Fate[]]);
        const { letters, notices } = await play({ repeat: "risky" }, fates);
        expect(letters).toEqual(letters.toSorted());
        for (const [text, sends] of fates) {
          const doubts = sends.slice(0, sends.indexOf("arrives") < 0 ? undefined : sends.indexOf("arrives"));
          const lost = doubts.filter((one) => one !== "retry").length;
          const times = letters.filter((one) => one === text).length;
          expect(times).toBeLessThanOrEqual(Math.min(2, lost + 1));
          if (lost < 2) expect([text, times > 0]).toEqual([text, true]);
          else expect(notices).toHaveLength(1);
        }
      }),
      { numRuns: casesHere(30) },
    );
  }, 60_000);
});

describe("a reply that is given up", () => {
  test("because of doubt is told in its chat, once, also when the gateway is killed before the end is noted", async () => {
    const platform = platformOf({ repeat: "risky", whenLost: "hold" });
    platform.fates.set("x", ["lost before"]);
    await using world = await worldOf(platform);
    world.tamper((store) => ({
      ...store,
      settle: (id, ...rest) => (id === "turn_1:0" ? never() : store.settle(id, ...rest)),
    }));
    await world.reply("chat", ["x"]);
    await world.clock.advance(2_000);
    world.tamper((store) => store);
    await world.crash();
    await world.drained();
    expect(platform.shown).toEqual([expect.stringMatching(/may be missing/)]);
    expect(world.told).toEqual([]);
  });

  test("because it expired is told in its chat as soon as that can be reached", async () => {
    const platform = platformOf({ repeat: "risky" });
    await using world = await worldOf(platform);
    world.ready = false;
    await world.reply("chat", ["x"]);
    await world.clock.advance(HOUR_MS + 2_000);
    world.ready = true;
    await world.drained();
    expect(platform.shown).toEqual([expect.stringMatching(/could not be delivered/)]);
    expect(await world.rows()).toMatchObject({ "turn_1:0": { state: "dead" }, "turn_1:n": { state: "sent" } });
  });

  test("because its chat takes nothing is told to the owner, and not in that chat", async () => {
    const platform = platformOf({ repeat: "risky" });
    platform.fates.set("x", ["permanent"]);
    await using world = await worldOf(platform);
    await world.reply("chat", ["x"]);
    await world.drained();
    expect(platform.shown).toEqual([]);
    expect(world.told).toEqual([["turn_1:0", "dead", "403 blocked"]]);
  });

  test("because its channel is gone is told to the owner", async () => {
    await using world = await worldOf(platformOf({ repeat: "risky" }));
    await world.reply("chat", ["x"], { channel: "carrier-pigeon" });
    await world.clock.advance(HOUR_MS + 2_000);
    await world.drained();
    expect(world.told).toEqual([["turn_1:0", "dead", "no channel carrier-pigeon"]]);
  });

  test("and whose notice is given up as well is told to the owner", async () => {
    const platform = platformOf({ repeat: "risky" });
    await using world = await worldOf(platform);
    world.ready = false;
    await world.reply("chat", ["x"]);
    await world.clock.advance(2 * HOUR_MS + 4_000);
    await world.drained();
    expect(world.told).toEqual([["turn_1:n", "dead", "it waited too long to be sent"]]);
  });

  test("although the owner cannot be told is ended all the same", async () => {
    const platform = platformOf({ repeat: "risky" });
    platform.fates.set("x", ["permanent"]);
    await using world = await worldOf(platform);
    world.ownerIsDeaf = true;
    await world.reply("chat", ["x y"]);
    await world.drained();
    expect((await world.rows())["turn_1:0"]?.state).toBe("dead");
  });
});
