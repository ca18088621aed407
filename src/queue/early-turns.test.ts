/** Turns that begin with their message, in one transaction: which do, and what becomes of one that nobody takes after all. */
import { describe, expect, spyOn, test } from "bun:test";
import type { TurnId } from "../contracts/ids.ts";
import { DONE, keyOf, never, queueWorld, type QueueWorld, words } from "../testing/worlds/queue-world.ts";

/** The turns of stored messages that have not ended: the texts, and whether a turn has them. */
async function stored(fx: QueueWorld): Promise<Record<string, boolean>> {
  const rows = await fx.store.inbox.unfinished();
  return Object.fromEntries(rows.map(({ message, turn }) => [message.text, turn !== null]));
}

describe("a message to an idle session", () => {
  test("a message begins its turn in the transaction that stores it, when somebody waits for work", async () => {
    await using fx = await queueWorld();
    const begin = spyOn(fx.store.turns, "begin");
    const taken = fx.take();
    await fx.say("a", "hello");
    expect(await stored(fx)).toEqual({ hello: true });
    const batch = await taken;
    expect([words(batch), batch.attempt, batch.sessionFile.settledBytes, begin.mock.calls.length]).toEqual([
      ["hello"],
      1,
      0,
      0,
    ]);
    await batch.finish(DONE);
    const second = fx.take();
    await fx.say("a", "again");
    expect([(await second).sessionFile.settledBytes, begin.mock.calls.length]).toEqual([DONE.settledBytes, 0]);
  });

  test("a message begins no turn while nobody waits for work, or nobody has room for another turn", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "nobody waits");
    const first = await fx.take();
    const taken = fx.queue.take(never, 2);
    await Promise.all(["b", "c", "d"].map((session) => fx.say(session, session)));
    expect(await stored(fx)).toEqual({ "nobody waits": true, b: true, c: true, d: false });
    const texts = [words(first), words(await taken), words(await fx.queue.take(never, 1)), words(await fx.take())];
    expect(texts.flat().toSorted()).toEqual(["b", "c", "d", "nobody waits"]); // sessions have no order among them
  });

  test("of two messages that come at once, the first begins its turn and the second waits for the next one", async () => {
    await using fx = await queueWorld();
    const taken = fx.queue.take(never, 5);
    await Promise.all([fx.say("a", "one"), fx.say("a", "two")]);
    expect(await stored(fx)).toEqual({ one: true, two: false });
    const batch = await taken;
    expect([words(batch), fx.queue.stats()]).toEqual([["one"], { waiting: 1, running: 1 }]);
    await batch.finish(DONE);
    expect(words(await fx.take())).toEqual(["two"]);
  });

  test("a message that comes with a command before it is answered after the command", async () => {
    await using fx = await queueWorld();
    const taken = fx.take();
    const command = fx.queue.takeCommand(never);
    await Promise.all([fx.say("a", "/new"), fx.say("a", "hello")]);
    expect(await stored(fx)).toMatchObject({ hello: false });
    const first = await command;
    expect(words(first)).toEqual(["/new"]);
    await first.finish(DONE);
    expect(words(await taken)).toEqual(["hello"]);
  });

  test("a message that was stored before begins nothing, and its session is free for the next one", async () => {
    await using fx = await queueWorld();
    const taken = fx.take();
    const { message } = { ...(await firstMessage(fx)) };
    await (await taken).finish(DONE);
    const waiting = fx.take();
    expect((await fx.say("a", "one", { message })).kind).toBe("duplicate");
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
    await fx.say("a", "two");
    expect(words(await waiting)).toEqual(["two"]);
  });

  test("a message that could not be stored leaves its session free for the next one", async () => {
    await using fx = await queueWorld();
    const taken = fx.take();
    const failing = spyOn(fx.store.inbox, "accept").mockRejectedValueOnce(new Error("disk full"));
    await expect(fx.say("a", "lost")).rejects.toThrow("disk full");
    failing.mockRestore();
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
    await fx.say("a", "kept");
    expect(words(await taken)).toEqual(["kept"]);
  });

  test("a message interrupts no turn by beginning its own", async () => {
    await using fx = await queueWorld({ mode: "interrupt" });
    const taken = fx.take();
    await fx.say("a", "hello");
    expect((await taken).cancelled.aborted).toBe(false);
  });

  test("a turn that began with its message can be stopped before it is taken", async () => {
    await using fx = await queueWorld();
    const taken = fx.take();
    await fx.say("a", "hello");
    expect(await fx.queue.abort(keyOf("a"))).toBe(true);
    expect((await taken).cancelled.aborted).toBe(true);
  });
});

describe("a turn that nobody takes after all", () => {
  test("a turn whose taker has left is not at work, and goes on under its id when somebody takes it", async () => {
    await using fx = await queueWorld();
    const leaving = new AbortController();
    const left = fx.queue.take(leaving.signal).catch(() => null);
    await fx.say("a", "hello");
    leaving.abort(new Error("stopping"));
    expect(await left).toBeNull();
    await new Promise((resolve) => setImmediate(resolve)); // nobody waits in the moment in which it is handed out
    const [row] = await fx.store.inbox.unfinished();
    const batch = await fx.take();
    expect([words(batch), batch.turnId, batch.attempt]).toEqual([["hello"], row?.turn?.turnId ?? ("" as TurnId), 2]);
  });

  test("a crash is not counted for a turn whose taker had left", async () => {
    await using fx = await queueWorld();
    const leaving = new AbortController();
    const left = fx.queue.take(leaving.signal).catch(() => null);
    await fx.say("a", "hello");
    leaving.abort(new Error("stopping"));
    await left;
    await fx.store.sessions.get(keyOf("a"));
    await fx.restart();
    expect((await fx.store.inbox.unfinished())[0]?.turn?.crashes).toBe(0);
  });
});

async function firstMessage(fx: QueueWorld) {
  await fx.say("a", "one");
  const [row] = await fx.store.inbox.unfinished();
  if (!row) throw new Error("nothing was stored");
  return row;
}
