/** Turns that were at work when the gateway went down: innocent ones are answered, and only the one that brings it down is given up. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import type { Batch } from "../contracts/queue.ts";
import { DONE, idOf, nextBatch, queueWorld, type QueueWorld, words } from "../testing/worlds/queue-world.ts";

const soon = (): AbortSignal => {
  const stop = new AbortController();
  setImmediate(() => stop.abort(new Error("nothing came")));
  return stop.signal;
};
/** What begins now, without waiting for anything. */
async function begun(fx: QueueWorld, sort: "take" | "takeCommand" = "take"): Promise<Batch | null> {
  return fx.queue[sort](soon()).catch(() => null);
}
async function allBegun(fx: QueueWorld): Promise<Batch[]> {
  const all: Batch[] = [];
  for (let next = await begun(fx); next; next = await begun(fx)) all.push(next);
  return all;
}
const textsOf = (batches: readonly Batch[]): string[] => batches.flatMap(words).toSorted();

/** Runs whatever may run beside each other; the gateway dies whenever the turn of "poison" is among them. */
async function live(
  fx: QueueWorld,
  lives: number,
): Promise<{ readonly answered: string[]; readonly givenUp: string[] }> {
  const answered: string[] = [];
  const givenUp: string[] = [];
  for (let life = 0; life < lives;) {
    const batches = await allBegun(fx);
    if (batches.length === 0) break;
    if (batches.some((batch) => words(batch).includes("poison") && !batch.accused)) {
      life++;
      await fx.restart();
      continue;
    }
    for (const batch of batches) {
      (batch.accused ? givenUp : answered).push(...words(batch));
      await batch.finish(batch.accused ? { ...DONE, outcome: "failed" } : DONE);
    }
  }
  return { answered: answered.toSorted(), givenUp };
}

describe("after a crash of the gateway", () => {
  test("the first time, everything that was at work runs again side by side", async () => {
    await using fx = await queueWorld();
    for (const session of ["a", "b", "c"]) await fx.say(session, session);
    await allBegun(fx);
    await fx.restart();
    expect(textsOf(await allBegun(fx))).toEqual(["a", "b", "c"]);
  });

  test("the second time, each turn that was at work in both runs alone, before everything else", async () => {
    await using fx = await queueWorld();
    for (const session of ["a", "b"]) await fx.say(session, session);
    await allBegun(fx);
    await fx.restart();
    await allBegun(fx);
    await fx.restart();
    await fx.say("c", "new");
    await fx.say("d", "/status");
    const [first, ...more] = await allBegun(fx);
    expect([first && words(first), more.length]).toEqual([["a"], 0]);
    expect(await begun(fx, "takeCommand")).toBeNull();
    await first?.finish(DONE);
    const [second, ...others] = await allBegun(fx);
    expect([second && words(second), others.length]).toEqual([["b"], 0]);
    await second?.finish(DONE);
    expect(textsOf(await allBegun(fx))).toEqual(["new"]);
    expect(await begun(fx, "takeCommand").then((batch) => batch && words(batch))).toEqual(["/status"]);
  });

  test("a turn that has to run alone waits for what began while its lane stood still", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "a");
    for (let crash = 0; crash < 2; crash++) {
      await allBegun(fx);
      await fx.restart();
    }
    const behind = idOf(await fx.say("a", "behind it"));
    await fx.say("b", "b");
    const gate = Promise.withResolvers<void>();
    const { endUnbegun } = fx.store.turns;
    const slow: typeof endUnbegun = async (end) => (await gate.promise, endUnbegun(end));
    (fx.store.turns as { endUnbegun: unknown }).endUnbegun = slow;
    const cancelled = fx.queue.cancel(behind, "A" as Principal, { outcome: "aborted", reply: [] });
    await fx.store.inbox.senderOf(behind); // answered after the queue's own question
    const beside = await begun(fx);
    expect(beside && words(beside)).toEqual(["b"]);
    gate.resolve();
    await cancelled;
    expect(await begun(fx)).toBeNull();
    await beside?.finish(DONE);
    expect(await begun(fx).then((batch) => batch && words(batch))).toEqual(["a"]);
  });

  test("a turn that runs alone is told nothing that others say meanwhile", async () => {
    await using fx = await queueWorld({ mode: "steer" });
    await fx.say("a", "a");
    for (let crash = 0; crash < 2; crash++) {
      await allBegun(fx);
      await fx.restart();
    }
    const [suspect] = await allBegun(fx);
    await fx.say("a", "more");
    expect(await suspect?.offered(soon())).toEqual([]);
  });

  test.each([1, 2, 5, 12])(
    "only the message that brings the gateway down is given up, after three attempts, beside %d others",
    async (others) => {
      await using fx = await queueWorld();
      const innocent = Array.from({ length: others }, (_, at) => `innocent ${at}`);
      for (const [at, text] of innocent.entries()) {
        await fx.say(`s${at}`, text);
        if (at === Math.floor(others / 2)) await fx.say("p", "poison");
      }
      const { answered, givenUp } = await live(fx, 4);
      expect([answered, givenUp]).toEqual([innocent.toSorted(), ["poison"]]);
    },
  );

  test("a stop in good order is no crash, however often the gateway is stopped", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "a");
    await fx.say("b", "b");
    for (let stop = 0; stop < 12; stop++) {
      for (const batch of await allBegun(fx)) await batch.abandon();
      await fx.restart();
    }
    const batches = await allBegun(fx);
    expect([textsOf(batches), batches.map(({ accused }) => accused)]).toEqual([
      ["a", "b"],
      [false, false],
    ]);
  });

  test("turns that were not at work are not counted", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "a");
    await fx.say("b", "b");
    await allBegun(fx);
    for (let crash = 0; crash < 5; crash++) await fx.restart();
    expect(textsOf(await allBegun(fx))).toEqual(["a", "b"]);
  });

  test("a gateway that is killed again and again gives up one turn at most, and answers the others when it may live", async () => {
    await using fx = await queueWorld();
    const all = Array.from({ length: 49 }, (_, at) => `m${at}`);
    for (const text of all) await fx.say(text, text);
    for (let kill = 0; kill < 30; kill++) {
      for (let batch = await begun(fx); batch; batch = await begun(fx))
        if (batch.accused) await batch.finish({ ...DONE, outcome: "failed" });
      await fx.restart();
    }
    const { answered, givenUp } = await live(fx, 1);
    expect(givenUp.length).toBeLessThanOrEqual(1);
    expect(answered.length + givenUp.length).toBe(49);
  });

  test("an agent that fails after crashes is tried as often as without them", async () => {
    await using fx = await queueWorld();
    await fx.say("a", "a");
    await fx.take();
    await fx.restart();
    const again = await fx.take();
    expect([again.attempt, again.failures]).toEqual([2, 0]);
    await again.retry("its process died");
    const third = await nextBatch(fx.queue);
    expect([third.attempt, third.failures]).toEqual([3, 1]);
  });
});
