/** The connection: it comes back, begins anew when going on does not work, waits longer and longer, and tells the truth. */
import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../kit/clock.ts";
import { eventually, passing } from "../../../testing/contracts/channel-contract.ts";
import { type DiscordWorld, discordWorld } from "../../../testing/discord/discord-world.ts";
import { PEOPLE, PLACES } from "../../../testing/discord/fake-people.ts";
import { RESET_AFTER_MS } from "../../../testing/discord/fake-rest.ts";
import { afterLink, FRESH, HOPELESS_PAUSE_MS, type LinkEnd, type LinkState, MAX_FAILED_RESUMES } from "./rules.ts";

const NEVER = new AbortController().signal;
const SLOW_MS = 60_000;
let world: DiscordWorld;
afterEach(() => world?.[Symbol.asyncDispose]());

const down = () => eventually("it is noticed", () => !world.channel.health().ok);
async function upAgain(): Promise<void> {
  for (let step = 0; step < 600 && !world.channel.health().ok; step++) {
    await world.bench.clock.advance(1_000);
    await systemClock.sleep(5, NEVER);
  }
  expect(world.channel.health().ok).toBe(true);
}

describe("a connection", () => {
  test(
    "is well as long as heartbeats are answered, and not a moment because a socket is open",
    async () => {
      world = await discordWorld({}, 50);
      await eventually("hearts beat", () => world.fake.gateway.heartbeats > 0);
      const beats = () => world.fake.gateway.heartbeats;
      for (let minute = 0; minute < 4; minute++) {
        await world.bench.clock.advance(60_000);
        const before = beats();
        await eventually("it is answered", () => beats() > before + 1);
        expect(world.channel.health()).toMatchObject({ ok: true, detail: expect.stringContaining("heartbeat") });
      }
      expect([world.fake.gateway.identifies, world.fake.gateway.resumes.length]).toEqual([1, 0]); // one connection all the time
    },
    SLOW_MS,
  );

  test(
    "on which nothing is answered is not well after two heartbeats' time, although it is open",
    async () => {
      world = await discordWorld();
      await world.bench.clock.advance(100_000);
      expect(world.channel.health().ok).toBe(true);
      expect(world.fake.gateway.connections()).toBe(1);
      await world.bench.clock.advance(1);
      expect(world.channel.health().ok).toBe(false);
      await upAgain();
      expect(world.fake.gateway.resumes).toHaveLength(1);
    },
    SLOW_MS,
  );

  test(
    "that is made after a long silence has its time to get ready, and is not called silent before",
    async () => {
      world = await discordWorld();
      const { bench, fake } = world;
      const ends = () => bench.log.lines.filter(({ words }) => words === "connection to Discord ended").length;
      fake.gateway.holdResumes();
      await passing(bench, "the next connection after the silence", () => fake.gateway.resumes.length === 1);
      expect(ends()).toBe(1);
      for (let second = 0; second < 20; second++) await bench.clock.advance(1_000);
      await systemClock.sleep(20, NEVER);
      expect(ends()).toBe(1);
    },
    SLOW_MS,
  );

  test(
    "is closed so that its session lives on when it was silent, and so that it ends when the channel does",
    async () => {
      world = await discordWorld();
      const { bench, fake } = world;
      await passing(bench, "the next connection after the silence", () => fake.gateway.resumes.length === 1);
      await eventually("it is well", () => world.channel.health().ok);
      await world.close();
      expect(fake.gateway.closeCodes).toEqual([4200, 1000]);
    },
    SLOW_MS,
  );

  test(
    "goes on where it was also when no sign-ins are left today, because that is none",
    async () => {
      world = await discordWorld();
      world.fake.gateway.signInsLeft = 0;
      world.fake.gateway.drop(4000);
      await down();
      await upAgain();
      expect([world.fake.gateway.identifies, world.fake.gateway.resumes.length]).toEqual([1, 1]);
    },
    SLOW_MS,
  );

  test(
    "that is dropped goes on where it was",
    async () => {
      world = await discordWorld();
      const timers = world.bench.clock.pending();
      world.fake.gateway.drop(4000);
      await down();
      await upAgain();
      expect(world.fake.gateway.identifies).toBe(1);
      expect(world.fake.gateway.resumes).toHaveLength(1);
      expect(world.fake.gateway.resumes[0]?.seq).toBeGreaterThan(0);
      expect(world.bench.clock.pending()).toBe(timers); // nobody watches the connection that is over
      await world.bench.clock.advance(31_000); // longer than it may take to get ready
      expect([world.channel.health().ok, world.fake.gateway.resumes.length]).toEqual([true, 1]);
    },
    SLOW_MS,
  );

  test(
    "whose session is forgotten begins a new one",
    async () => {
      world = await discordWorld();
      world.fake.gateway.forgetSessions();
      world.fake.gateway.drop(4000);
      await down();
      await upAgain();
      expect(world.fake.gateway.resumes).toHaveLength(1);
      expect(world.fake.gateway.identifies).toBe(2);
    },
    SLOW_MS,
  );

  test(
    `that cannot go on ${MAX_FAILED_RESUMES} times in a row begins a new one, with pauses in between`,
    async () => {
      world = await discordWorld();
      world.fake.gateway.refuseResumes(1_000);
      world.fake.gateway.drop(4000);
      await down();
      const startedAt = world.bench.clock.now();
      await upAgain();
      expect(world.fake.gateway.resumes).toHaveLength(MAX_FAILED_RESUMES);
      expect(world.fake.gateway.identifies).toBe(2);
      expect(world.bench.clock.now() - startedAt).toBeGreaterThan(4_000);
    },
    SLOW_MS,
  );

  test(
    "that is closed for good by Discord begins a new one",
    async () => {
      world = await discordWorld();
      world.fake.gateway.drop(1000);
      await down();
      await upAgain();
      expect(world.fake.gateway.resumes).toHaveLength(0);
      expect(world.fake.gateway.identifies).toBe(2);
    },
    SLOW_MS,
  );

  test(
    "that Discord asks to come back goes on where it was",
    async () => {
      world = await discordWorld();
      world.fake.gateway.askReconnect();
      await down();
      await upAgain();
      expect(world.fake.gateway.identifies).toBe(1);
      expect(world.fake.gateway.resumes).toHaveLength(1);
    },
    SLOW_MS,
  );

  test(
    "is not begun anew when no sign-ins are left today",
    async () => {
      world = await discordWorld();
      world.fake.gateway.signInsLeft = 0;
      world.fake.gateway.drop(1000);
      await down();
      for (let step = 0; step < 30; step++) {
        await world.bench.clock.advance(10_000);
        await systemClock.sleep(5, NEVER);
      }
      expect(world.fake.gateway.identifies).toBe(1);
      world.fake.gateway.signInsLeft = 999;
      await world.bench.clock.advance(RESET_AFTER_MS);
      await upAgain();
      expect(world.fake.gateway.identifies).toBe(2);
    },
    SLOW_MS,
  );

  test(
    "survives whatever is told over it",
    async () => {
      world = await discordWorld();
      for (const event of [
        "GUILD_CREATE",
        "THREAD_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "INTERACTION_CREATE",
        "X",
      ])
        for (const data of [null, {}, [], "x", { threads: 1 }, { author: null, channel_id: 7 }])
          world.fake.gateway.dispatch(event, data);
      world.fake.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "still there?" });
      await eventually("it is stored", () => world.bench.stored.some(({ text }) => text === "still there?"));
      expect(world.channel.health().ok).toBe(true);
      const logged = world.bench.log.lines.map(({ words }) => words);
      expect(logged).toContain("Discord said something unexpected");
    },
    SLOW_MS,
  );

  test(
    "with a token that is refused says so, keeps quiet, and works when it is right again",
    async () => {
      world = await discordWorld();
      world.fake.gateway.refuseTokens(true);
      world.fake.gateway.drop(4000);
      await down();
      for (let step = 0; step < 5; step++) {
        await world.bench.clock.advance(1_000);
        await systemClock.sleep(20, NEVER);
      }
      await eventually("it says so", () => world.channel.health().detail.includes("channels.discord.token"));
      expect(world.channel.ready()).toBe(false);
      world.fake.gateway.refuseTokens(false);
      await world.bench.clock.advance(HOPELESS_PAUSE_MS);
      await upAgain();
    },
    SLOW_MS,
  );

  test(
    "that ends a hundred times does not flood Discord",
    async () => {
      world = await discordWorld();
      world.fake.gateway.beSilent(true);
      await world.bench.clock.advance(106_000);
      await down();
      for (let step = 0; step < 300; step++) {
        await world.bench.clock.advance(2_000);
        await systemClock.sleep(1, NEVER);
      }
      const tries = world.bench.log.lines.filter(({ words }) => words === "connection to Discord ended").length;
      expect(tries).toBeGreaterThan(3);
      expect(tries).toBeLessThan(25); // ten minutes
      expect(world.fake.gateway.connections()).toBeLessThanOrEqual(1);
    },
    SLOW_MS,
  );

  test(
    "that ends leaves a message that arrives in the meantime to the next one",
    async () => {
      world = await discordWorld();
      world.fake.say({ channel: PLACES.dm, author: PEOPLE.friend, content: "before" });
      await eventually("it is stored", () => world.bench.stored.length === 1);
      world.fake.gateway.forgetSessions();
      world.fake.gateway.drop(4000);
      await down();
      world.fake.state.add({ channel: PLACES.dm, author: PEOPLE.friend, content: "while it was down" });
      await upAgain();
      await eventually("it is fetched", () => world.bench.stored.length === 2);
      expect(world.bench.stored[1]?.text).toBe("while it was down");
    },
    SLOW_MS,
  );

  test(
    "can be closed while it is being opened",
    async () => {
      world = await discordWorld();
      world.fake.gateway.drop(4000);
      await down();
      void world.bench.clock.advance(2_000);
      await world.close();
      await eventually("nothing is open", () => world.fake.gateway.connections() === 0);
      await systemClock.sleep(600, NEVER); // longer than the library waits before it would come back by itself
      expect(world.fake.gateway.connections()).toBe(0);
    },
    SLOW_MS,
  );
});

describe("after a connection", () => {
  const closed = (code: number, more: Partial<Extract<LinkEnd, { kind: "closed" }>> = {}): LinkEnd => ({
    kind: "closed",
    code,
    wasUp: true,
    resuming: false,
    ...more,
  });
  const up: LinkState = { ...FRESH, session: true };

  test.each([
    ["an ordinary drop is resumed", closed(4000), true],
    ["a reconnect that Discord asks for is resumed", closed(4200), true],
    ["a broken line is resumed", closed(1006), true],
    ["silence is resumed", { kind: "silent", wasUp: true, resuming: false } as LinkEnd, true],
    ["a normal close is not", closed(1000), false],
    ["an unknown sequence is not", closed(4007), false],
    ["a session that timed out is not", closed(4009), false],
    ["a refused token is not", closed(4004), false],
  ])("%s", (_what, end, session) => {
    expect(afterLink(up, end, 0).session).toBe(session);
  });

  test("failures make pauses longer, up to a minute, and a success makes them short again", () => {
    let state: LinkState = FRESH;
    const pauses: number[] = [];
    for (let at = 0; at < 12; at++) {
      const next = afterLink(state, { kind: "failed", detail: "" }, 0);
      pauses.push(next.pauseMs);
      state = next;
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBe(60_000);
    expect(afterLink(state, closed(4000), 0).pauseMs).toBe(1_000);
  });

  test("a failed call for the address does not cost the session", () => {
    expect(afterLink(up, { kind: "failed", detail: "" }, 0.5)).toMatchObject({ session: true, failedResumes: 0 });
  });
});
