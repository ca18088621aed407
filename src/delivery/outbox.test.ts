import { describe, expect, test } from "bun:test";
import { SendError } from "../contracts/channel.ts";
import { type Answer, outboxWorld } from "../testing/worlds/outbox-world.ts";
import { MAX_SENDING } from "./outbox.ts";
import { waitFor } from "../testing/wait-for.ts";

const HOUR_MS = 3_600_000;

/** Fails for chats of this name while `broken` holds. */
function failing(chat: string, error: () => Error) {
  const state = { broken: true };
  const answer: Answer = ({ to }) => {
    if (state.broken && to.chat === chat) throw error();
    return {};
  };
  return { state, answer };
}

/** Takes the message and does not come back until it is told to, or aborted. */
function hanging(chats: readonly string[]) {
  const go = Promise.withResolvers<void>();
  const state = { open: 0, most: 0, done: 0 };
  const answer: Answer = async ({ to }, signal) => {
    state.open++;
    state.most = Math.max(state.most, state.open);
    if (chats.includes(to.chat)) {
      const aborted = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => aborted.reject(new SendError("lost", "cut")));
      await Promise.race([go.promise, aborted.promise]).finally(() => state.open--);
    } else state.open--;
    state.done++;
    return {};
  };
  return { state, answer, release: () => go.resolve() };
}

describe("the outbox", () => {
  test("sends every part once, in order, and remembers that it did", async () => {
    await using world = await outboxWorld({}, () => ({}));
    await world.reply("a", ["one", "two"]);
    await world.drained();
    await world.reply("b", ["three"]);
    await world.drained();
    await world.restart();
    await world.drained();
    expect(world.texts()).toEqual(["one", "two", "three"]);
    expect(Object.values(await world.rows()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["sent", 1],
      ["sent", 1],
      ["sent", 1],
    ]);
  });

  test("sends a reply whose number was that of a part before, because the conversation of that part was deleted", async () => {
    const { state, answer } = failing("waits", () => new SendError("retry", "busy"));
    await using world = await outboxWorld({}, answer);
    await world.reply("waits", ["of a chat that is away"]);
    for (const chat of ["a", "b", "c"]) await world.reply(chat, [`to ${chat}`]);
    await waitFor("three replies", () => world.texts().filter((text) => text.startsWith("to")).length === 3);
    await world.deleteRows(["turn_3:0", "turn_4:0"]);
    await world.reply("d", ["to d"]);
    await world.reply("e", ["to e"]);
    await waitFor("the replies after that", () => world.texts().includes("to e"));
    state.broken = false;
    await world.drained();
    const replies = world.texts().filter((text) => text.startsWith("to"));
    expect(replies).toEqual(["to a", "to b", "to c", "to d", "to e"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent" });
  });

  test("asks before each try whether the chat may still get a part: one that waited for a person who lost access is not sent", async () => {
    const { state, answer } = failing("a", () => new SendError("retry", "busy"));
    await using world = await outboxWorld({}, answer);
    await world.reply("a", ["one"]);
    await waitFor("the first try has failed", async () => (await world.rows())["turn_1:0"]?.attempts === 1);
    world.mayReceive = ({ to }) => to.chat !== "a";
    state.broken = false;
    await world.reply("b", ["two"]);
    await world.drained();
    expect(world.sends.map(({ text }) => text)).toEqual(["one", "two"]); // the first try of "one", and no other
    expect((await world.rows())["turn_1:0"]).toMatchObject({
      state: "dead",
      because: "the person has no access any more",
    });
    expect(world.told).toEqual([]); // the owner took the access back, and knows
  });

  test("does not even try once to send a part to a person who lost access before", async () => {
    await using world = await outboxWorld({}, () => ({}));
    world.mayReceive = ({ to }) => to.chat !== "a";
    await world.reply("a", ["one"]);
    await world.reply("b", ["two"]);
    await world.drained();
    expect(world.texts()).toEqual(["two"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({
      state: "dead",
      because: "the person has no access any more",
    });
  });

  test("keeps the platform's id of what it sent", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, ({ message }) => ({
      providerId: `id of ${message.text}`,
    }));
    await world.reply("a", ["one"]);
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", providerId: "id of one", because: null });
  });

  test("keeps trying a chat that does not take its message, in order, without holding up another chat", async () => {
    const { state, answer } = failing("down", () => new Error("503"));
    await using world = await outboxWorld({}, answer);
    await world.reply("down", ["first", "second"]);
    await world.reply("up", ["hello"]);
    await waitFor('"hello" is sent', () => world.texts().includes("hello"));
    await world.clock.advance(5_000);
    expect(new Set(world.texts())).toEqual(new Set(["first", "hello"]));
    state.broken = false;
    await world.drained();
    expect(world.texts().slice(-2)).toEqual(["first", "second"]);
  });

  test("waits twice as long after every failure, up to a minute, a little less by chance", async () => {
    const { state, answer } = failing("a", () => new SendError("retry", "503"));
    await using world = await outboxWorld({}, answer);
    await world.reply("a", ["one"]);
    await world.clock.advance(10 * 60_000);
    const times = world.sends.map(({ at }) => at);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    for (const [index, pause] of pauses.entries()) {
      const full = Math.min(1_000 * 2 ** index, 60_000);
      expect(pause).toBeGreaterThanOrEqual(full * 0.8);
      expect(pause).toBeLessThanOrEqual(full);
    }
    expect(pauses.length).toBeGreaterThan(10);
    expect(new Set(pauses.slice(6)).size).toBeGreaterThan(1);
    state.broken = false;
    await world.drained();
  });

  test("the pause a platform asks for holds for the chat, also when the part it was asked for is given up meanwhile", async () => {
    const PAUSE_MS = 300_000;
    const answer: Answer = ({ message }) => {
      if (message.text === "old") throw new SendError("limited", "429", { retryAfterMs: PAUSE_MS });
      return {};
    };
    await using world = await outboxWorld({ repeat: "risky" }, answer);
    world.ready = false;
    await world.reply("a", ["old"]);
    await world.clock.advance(HOUR_MS - 60_000);
    await world.reply("a", ["new"]);
    world.ready = true;
    await world.drained();
    const [old, next] = world.sends;
    expect(world.texts()).toEqual(["old", "new"]);
    expect((next?.at ?? 0) - (old?.at ?? 0)).toBe(PAUSE_MS);
  });

  test("keeps to the pause a platform asks for in one chat, to the millisecond and across a restart; others go on", async () => {
    const { state, answer } = failing("busy", () => new SendError("limited", "429", { retryAfterMs: 7_321 }));
    await using world = await outboxWorld({ repeat: "risky" }, answer);
    const begun = world.clock.now();
    await world.reply("busy", ["slow"]);
    await waitFor("the rate limit is noted", async () => (await world.rows())["turn_1:0"]?.because === "429");
    state.broken = false;
    await world.clock.advance(2_000);
    await world.restart();
    await world.reply("free", ["quick"]);
    await waitFor('"quick" is sent', () => world.texts().includes("quick"));
    await world.drained();
    expect(world.sends.map(({ text, at }) => [text, at - begun])).toEqual([
      ["slow", 0],
      ["quick", 2_000],
      ["slow", 7_321],
    ]);
  });

  test("gives up at once what a platform refuses for good, says so, and goes on with the next part", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, ({ message }) => {
      if (message.text === "bad") throw new SendError("permanent", "403 blocked");
      return {};
    });
    await world.reply("a", ["bad", "good"]);
    await world.drained();
    expect(world.texts()).toEqual(["bad", "good"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "dead", because: "403 blocked", attempts: 1 });
    expect(world.log.lines.filter(({ level }) => level === "warn").map(({ words }) => words)).toEqual([
      "reply given up",
    ]);
    expect(world.statuses).toEqual(["outbox"]);
    expect(world.outbox.stats()).toEqual({ pending: 0, dead: 1, ambiguous: 0 });
    await world.restart();
    await world.drained();
    expect(world.outbox.stats().dead).toBe(1);
    await world.clock.advance(25 * HOUR_MS);
    expect(world.outbox.stats().dead).toBe(0);
  });

  test("keeps a reply for a channel that is not there for an hour, says so then, and goes on meanwhile", async () => {
    await using world = await outboxWorld({}, () => ({}));
    await world.reply("a", ["lost"], { channel: "carrier-pigeon" });
    await world.reply("b", ["fine"]);
    await waitFor('"fine" is sent', () => world.texts().includes("fine"));
    await world.clock.advance(HOUR_MS - 2_000);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "pending" });
    await world.clock.advance(3_000);
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "dead", because: "no channel carrier-pigeon" });
    expect(world.log.lines.map(({ words }) => words)).toContain("reply given up");
  });

  test("does not send what could not be sent within an hour; what waits behind it has an hour of its own", async () => {
    const { state, answer } = failing("a", () => new SendError("retry", "503"));
    await using world = await outboxWorld({ repeat: "deduplicated" }, answer);
    await world.reply("a", ["old"]);
    await world.clock.advance(HOUR_MS / 2);
    await world.reply("a", ["newer"]);
    await world.clock.advance(HOUR_MS / 2 + 1_000);
    await waitFor("the part is dead", async () => (await world.rows())["turn_1:0"]?.state === "dead");
    expect((await world.rows())["turn_1:0"]?.because).toBe("it waited too long to be sent");
    state.broken = false;
    await world.drained();
    expect(world.texts().at(-1)).toBe("newer");
    expect((await world.rows())["turn_2:0"]?.state).toBe("sent");
  });

  test("shows an old reply all the same where a repeat is safe", async () => {
    await using world = await outboxWorld({}, () => ({}));
    world.ready = false;
    await world.reply("a", ["old"]);
    await world.clock.advance(5 * HOUR_MS);
    world.ready = true;
    await world.drained();
    expect([world.texts(), (await world.rows())["turn_1:0"]?.state]).toEqual([["old"], "sent"]);
  });

  test("counts no try while a channel is not ready, and sends as soon as it is", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, () => ({}));
    world.ready = false;
    await world.reply("a", ["one", "two"]);
    await world.clock.advance(HOUR_MS / 2);
    expect(world.sends).toEqual([]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "pending", attempts: 0, because: null });
    world.ready = true;
    await world.clock.advance(1_000);
    await world.drained();
    expect(world.texts()).toEqual(["one", "two"]);
    expect((await world.rows())["turn_1:0"]).toMatchObject({ state: "sent", attempts: 1 });
  });

  test("lets replies expire while they wait for a channel that never becomes ready", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, () => ({}));
    world.ready = false;
    await world.reply("a", ["one", "two"]);
    await world.clock.advance(HOUR_MS + 2_000);
    await world.drained();
    expect(Object.values(await world.rows()).map(({ state, because }) => [state, because])).toEqual([
      ["dead", "it waited too long to be sent"],
      ["dead", "it waited too long to be sent"],
      ["dead", "it waited too long to be sent"], // the notice that they were not delivered
    ]);
    expect([world.sends.length, world.outbox.stats().dead]).toEqual([0, 3]);
  });
});

describe("lanes of the outbox", () => {
  test("a chat that hangs delays no other, and is left behind after a minute", async () => {
    const { state, answer, release } = hanging(["stuck"]);
    await using world = await outboxWorld({ repeat: "deduplicated" }, answer);
    await world.reply("stuck", ["one", "two"]);
    for (const chat of ["a", "b", "c"]) await world.reply(chat, [`to ${chat}`]);
    await waitFor("three sends have ended", () => state.done === 3);
    expect(world.texts().toSorted()).toEqual(["one", "to a", "to b", "to c"]);
    await world.clock.advance(60_000);
    await waitFor(
      "the timeout is noted",
      async () => (await world.rows())["turn_1:0"]?.because === "no answer within 60 s",
    );
    release();
    await world.drained();
    expect(world.texts().slice(-2)).toEqual(["one", "two"]);
  });

  test("at most thirty-two sends are under way, and those that wait between tries are not counted", async () => {
    const chats = Array.from({ length: MAX_SENDING + 8 }, (_, index) => `h${index}`);
    const { state, answer, release } = hanging(chats);
    const refusing: Answer = (row, signal) => {
      if (row.to.chat.startsWith("down")) throw new SendError("limited", "429", { retryAfterMs: 60_000 });
      return answer(row, signal);
    };
    await using world = await outboxWorld({}, refusing);
    for (let index = 0; index < MAX_SENDING; index++) await world.reply(`down${index}`, ["x"]);
    for (const chat of chats) await world.reply(chat, [chat]);
    await waitFor("every place for sending is taken", () => state.open === MAX_SENDING);
    release();
    await waitFor("every chat is served", () => state.done === chats.length);
    expect([state.most, MAX_SENDING]).toEqual([32, 32]);
  });

  test("an account that hangs in all of its chats does not keep another one from sending", async () => {
    const chats = Array.from({ length: MAX_SENDING + 8 }, (_, index) => `h${index}`);
    const { state, answer, release } = hanging(chats);
    await using world = await outboxWorld({}, answer);
    for (const chat of chats) await world.reply(chat, [chat]);
    await waitFor("every place for sending is taken", () => state.open === MAX_SENDING);
    await world.reply("elsewhere", ["hello"], { account: "another" });
    await waitFor('"hello" is sent', () => world.texts().includes("hello"));
    expect(state.open).toBe(MAX_SENDING);
    release();
    await waitFor("every chat is served", () => state.done === chats.length + 1);
  });

  test("says of which chats something is still to be delivered", async () => {
    const { answer, release } = hanging(["stuck"]);
    await using world = await outboxWorld({}, answer);
    const to = (chat: string) => ({ channel: "fake", account: "default", chat });
    await world.reply("stuck", ["one"]);
    expect(world.outbox.owes(to("quiet"))).toBe(true); // not read yet, so nobody knows
    await waitFor("nothing is owed to the quiet chat", () => !world.outbox.owes(to("quiet")));
    expect(world.outbox.owes(to("stuck"))).toBe(true);
    release();
    await waitFor("nothing is owed to the stuck chat", () => !world.outbox.owes(to("stuck")));
  });

  test("a part whose channel reports a doubt is listed as in doubt", async () => {
    await using world = await outboxWorld({ repeat: "risky" }, () => ({ providerId: "7", doubt: "its preview" }));
    await world.reply("a", ["one"]);
    await world.drained();
    expect((await world.rows())["turn_1:0"]).toMatchObject({
      state: "ambiguous",
      because: "its preview",
      providerId: "7",
    });
    expect(world.sends).toHaveLength(1);
  });

  test("a chat with hundreds of stuck parts does not hide a chat that came later", async () => {
    const { answer } = failing("stuck", () => new Error("503"));
    await using world = await outboxWorld({}, answer);
    await world.reply(
      "stuck",
      Array.from({ length: 450 }, (_, index) => `${index}`),
    );
    await world.reply("later", ["hello"]);
    await waitFor('"hello" is sent', () => world.texts().includes("hello"));
    await waitFor("450 parts are pending", () => world.outbox.stats().pending === 450);
  });

  test("the threads of a chat share its lane", async () => {
    const { state, answer } = failing("group", () => new SendError("limited", "429", { retryAfterMs: 5_000 }));
    await using world = await outboxWorld({}, answer);
    await world.reply("group", ["one"], { thread: "1" });
    await world.reply("group", ["two"], { thread: "2" });
    await world.clock.advance(1_000);
    state.broken = false;
    await world.drained();
    expect(world.texts()).toEqual(["one", "one", "two"]);
  });

  test("a stop leaves what was being sent as it is, and the next start goes on", async () => {
    const { state, answer, release } = hanging(["a"]);
    await using world = await outboxWorld({ repeat: "deduplicated" }, answer);
    await world.reply("a", ["one", "two"]);
    await waitFor("one send is open", () => state.open === 1);
    const drained = world.outbox.drained(AbortSignal.abort(new Error("late")));
    await expect(drained).rejects.toThrow("late");
    release();
    await world.restart();
    await world.drained();
    expect([...new Set(world.texts())]).toEqual(["one", "two"]);
    expect(Object.values(await world.rows()).map((row) => row.state)).toEqual(["sent", "sent"]);
  });
});
