/** A session whose messages wait goes to another gateway: all of it or nothing, and nothing of it begins meanwhile. */
import { expect, test } from "bun:test";
import { deferred } from "../kit/deferred.ts";
import { DONE, idOf, keyOf, queueWorld } from "../testing/worlds/queue-world.ts";

const A = keyOf("a");

test("a session that is handed over leaves nothing behind, and its messages are not known here any more", async () => {
  await using fx = await queueWorld();
  const [first] = [await fx.say("a", "one"), await fx.say("a", "two"), await fx.say("b", "other")];
  expect(fx.queue.movable()).toEqual([
    { sessionKey: keyOf("b"), waiting: 1 },
    { sessionKey: A, waiting: 2 },
  ]);
  expect(await fx.queue.handOver(A, async () => true)).toBe(true);
  expect([fx.queue.stats(), fx.queue.isBusy(A)]).toEqual([{ waiting: 1, running: 0 }, false]);
  expect(await fx.answer()).toEqual(["other"]);
  expect(await fx.queue.cancel(idOf(first), "A" as never, { outcome: "aborted", reply: [] })).toEqual({
    kind: "not_waiting",
  });
});

test("a session that nobody takes goes on here, in its order", async () => {
  await using fx = await queueWorld();
  await fx.say("a", "one");
  await fx.say("a", "two");
  expect(await fx.queue.handOver(A, async () => false)).toBe(false);
  await expect(fx.queue.handOver(A, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["two"]]);
});

test("a session stands still while it is handed over: no turn begins, no message is withdrawn, and it is not handed over twice", async () => {
  await using fx = await queueWorld();
  const said = await fx.say("a", "one");
  await fx.say("b", "other");
  const taken = deferred<boolean>();
  const giving = fx.queue.handOver(A, () => taken.promise);
  expect(await fx.answer()).toEqual(["other"]);
  expect(fx.queue.movable()).toEqual([]);
  expect(await fx.queue.handOver(A, async () => true)).toBe(false);
  expect(await fx.queue.cancel(idOf(said), "A" as never, { outcome: "aborted", reply: [] })).toEqual({
    kind: "not_waiting",
  });
  taken.resolve(false);
  expect(await giving).toBe(false);
  expect(await fx.answer()).toEqual(["one"]);
});

test("a session with a running turn, or with one that is tried again, is not handed over", async () => {
  await using fx = await queueWorld();
  await fx.say("a", "one");
  const running = await fx.take();
  await fx.say("a", "two");
  const never = () => Promise.reject(new Error("it was given away"));
  expect([fx.queue.movable(), await fx.queue.handOver(A, never)]).toEqual([[], false]);
  await running.retry("the agent died");
  expect([fx.queue.movable(), await fx.queue.handOver(A, never)]).toEqual([[], false]);
  const again = await fx.take();
  await again.finish(DONE);
  expect(await fx.queue.handOver(A, async () => true)).toBe(true);
});
