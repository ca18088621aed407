/** A message that is held while the store withdraws or changes it: nobody begins with it meanwhile, and whoever waits goes on afterwards. */
import { describe, expect, spyOn, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import type { UnbegunReply } from "../contracts/queue.ts";
import { deferred } from "../kit/deferred.ts";
import { idOf, keyOf, nextBatch, queueWorld, words } from "../testing/worlds/queue-world.ts";

const BACK: UnbegunReply = {
  outcome: "aborted",
  reply: [{ part: 0, message: { kind: "notice", text: "withdrawn" } }],
};
const A = "A" as Principal;

describe("a message that is held in the queue", () => {
  test("for a change begins its turn with the new words as soon as they are stored, for a taker that waits already", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    const { inbox } = fx.store;
    const letGo = deferred<void>();
    const rewrite = inbox.rewrite.bind(inbox);
    using _slow = spyOn(inbox, "rewrite").mockImplementation(async (...given) => {
      await letGo.promise;
      return rewrite(...given);
    });
    const changing = fx.queue.rewrite(one, A, "two");
    await fx.clock.advance(0);
    const taken = nextBatch(fx.queue);
    await fx.clock.advance(0);
    expect(fx.queue.stats().running).toBe(0);
    letGo.resolve();
    expect((await changing).kind).toBe("rewritten");
    expect(words(await taken)).toEqual(["two"]);
  });

  test("for its withdrawal lets the next one begin as soon as it is gone, for a taker that waits already", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    await fx.say("a", "two");
    const { turns } = fx.store;
    const letGo = deferred<void>();
    const endUnbegun = turns.endUnbegun.bind(turns);
    using _slow = spyOn(turns, "endUnbegun").mockImplementation(async (...given) => {
      await letGo.promise;
      return endUnbegun(...given);
    });
    const withdrawing = fx.queue.cancel(one, A, BACK);
    await fx.clock.advance(0);
    const taken = nextBatch(fx.queue);
    await fx.clock.advance(0);
    expect(fx.queue.stats().running).toBe(0);
    letGo.resolve();
    expect((await withdrawing).kind).toBe("cancelled");
    expect(words(await taken)).toEqual(["two"]);
  });

  test("is not waiting any more when the store says so, and nothing is said to have changed", async () => {
    await using fx = await queueWorld();
    const one = idOf(await fx.say("a", "one"));
    using _gone = spyOn(fx.store.inbox, "rewrite").mockResolvedValue(false);
    expect(await fx.queue.rewrite(one, A, "two")).toEqual({ kind: "not_waiting" });
    using _ended = spyOn(fx.store.turns, "endUnbegun").mockResolvedValue(false as never);
    expect(await fx.queue.cancel(one, A, BACK)).toEqual({ kind: "not_waiting" });
  });
});

test("a queue mode that was chosen is stored when its choice is over", async () => {
  await using fx = await queueWorld();
  const { sessions } = fx.store;
  const setQueueMode = sessions.setQueueMode.bind(sessions);
  let isStored = false;
  using _slow = spyOn(sessions, "setQueueMode").mockImplementation(async (...given) => {
    await new Promise((resolve) => setImmediate(resolve));
    isStored = await setQueueMode(...given);
    return isStored;
  });
  await fx.say("a", "one");
  await fx.queue.choose(keyOf("a"), "steer");
  expect([isStored, fx.queue.session(keyOf("a"), "webchat")]).toEqual([
    true,
    { waiting: 1, mode: "steer", chosen: true },
  ]);
  await fx.restart();
  expect(fx.queue.session(keyOf("a"), "webchat")).toMatchObject({ mode: "steer", chosen: true });
});

test("a taker whose signal is aborted gets no work, although some waits", async () => {
  await using fx = await queueWorld();
  await fx.say("a", "one");
  await expect(fx.queue.take(AbortSignal.abort(new Error("stopping")))).rejects.toThrow("stopping");
  expect(fx.queue.stats()).toEqual({ waiting: 1, running: 0 });
});
