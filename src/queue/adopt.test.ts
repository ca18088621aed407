/** Messages of a gateway that died, which this one has taken over while it works: they come into its lanes, in order, and each once. */
import { describe, expect, test } from "bun:test";
import type { InboxId, TurnId } from "../contracts/ids.ts";
import type { TakenMessage } from "../contracts/store/nodes.ts";
import { deferred } from "../kit/deferred.ts";
import { entry } from "../testing/messages.ts";
import { waitFor } from "../testing/wait-for.ts";
import { DONE, keyOf, never, queueWorld, type QueueWorld, words } from "../testing/worlds/queue-world.ts";

/** Stored as this gateway's own, and not in its lanes: what a takeover leaves. */
async function came(
  { store }: QueueWorld,
  session: string,
  texts: readonly string[],
  overflow: readonly string[] = [],
): Promise<TakenMessage[]> {
  const taken: TakenMessage[] = [];
  for (const text of texts) {
    const id = `of-another-${text}` as InboxId;
    const over = overflow.includes(text) ? { overflow: { maxShown: 10 } } : {};
    await store.inbox.accept({ ...entry(session, text), id, ...over });
    taken.push({ id, sessionKey: keyOf(session), turnId: null });
  }
  return taken;
}

/** The first of them was being answered when its gateway died. */
async function begun({ store }: QueueWorld, [first, ...rest]: readonly TakenMessage[]): Promise<TakenMessage[]> {
  if (!first) return [];
  const turnId = `turn-of-${first.id}` as TurnId;
  const { id, sessionKey } = first;
  await store.turns.begin({ turnId, sessionKey, agentId: entry("", "").agentId, inboxIds: [id], at: 1 });
  return [{ ...first, turnId }, ...rest];
}

async function crashesOf({ store }: QueueWorld, id: string): Promise<number | undefined> {
  return (await store.inbox.unfinished()).find((row) => row.id === id)?.turn?.crashes;
}

describe("messages of a gateway that died", () => {
  test("are answered in their order, its turn first, before what was accepted here later", async () => {
    await using fx = await queueWorld();
    const taken = await begun(fx, await came(fx, "a", ["one", "two", "three"]));
    await fx.say("a", "later");
    expect(await fx.queue.adopt(taken, never)).toEqual({ waiting: 3, interrupted: 1 });
    const first = await fx.take();
    expect([words(first), first.turnId, first.attempt]).toEqual([["one"], taken[0]?.turnId as TurnId, 2]);
    await first.finish(DONE);
    expect([await fx.answer(), await fx.answer(), await fx.answer()]).toEqual([["two"], ["three"], ["later"]]);
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 0 });
  });

  test("keep their order with what came when there was no room, which goes before what was accepted after it", async () => {
    await using fx = await queueWorld();
    const texts = ["one", "two", "three", "four", "five", "six"];
    const taken = await came(fx, "a", texts, ["two", "three", "five"]);
    await fx.say("a", "later");
    await fx.queue.adopt(taken, never);
    expect(fx.queue.stats()).toEqual({ waiting: 7, running: 0 });
    const answered: string[] = [];
    while (fx.queue.stats().waiting > 0) answered.push(...(await fx.answer()));
    expect(answered).toEqual([...texts, "later"]);
  });

  test("keep their sessions waiting until they are read, and no other session", async () => {
    await using fx = await queueWorld();
    const taken = await came(fx, "a", ["one"]);
    const read = deferred<void>();
    const { unfinished } = fx.store.inbox;
    Object.assign(fx.store.inbox, { unfinished: () => read.promise.then(unfinished) });
    const adopting = fx.queue.adopt(taken, never);
    await fx.say("a", "later");
    await fx.say("b", "other");
    expect(await fx.answer()).toEqual(["other"]);
    expect(fx.queue.stats()).toEqual({ waiting: 1, running: 0 });
    read.resolve();
    await adopting;
    expect([await fx.answer(), await fx.answer()]).toEqual([["one"], ["later"]]);
  });

  test("are read again while the store has trouble, and nothing is said to have come when the gateway stops first", async () => {
    await using fx = await queueWorld();
    const taken = await came(fx, "a", ["one"]);
    const { unfinished } = fx.store.inbox;
    let failures = 0;
    const failing = async () => {
      failures++;
      throw new Error("away");
    };
    Object.assign(fx.store.inbox, { unfinished: failing });
    const stop = new AbortController();
    const stopped = fx.queue.adopt(taken, stop.signal);
    await waitFor("a failure", () => failures > 0);
    stop.abort(new Error("stopping"));
    expect(await stopped).toBeNull();
    const adopting = fx.queue.adopt(taken, never);
    await waitFor("another failure", () => failures > 1);
    Object.assign(fx.store.inbox, { unfinished });
    await fx.clock.advance(1_000);
    expect(await adopting).toEqual({ waiting: 1, interrupted: 0 });
    expect(await fx.answer()).toEqual(["one"]);
  });

  test("count one crash for the turn that was at work there, and none for a turn that runs here", async () => {
    await using fx = await queueWorld();
    const said = await fx.say("b", "runs here");
    const mine = await fx.take();
    const [taken] = await begun(fx, await came(fx, "a", ["one"]));
    if (!taken || said.kind !== "queued") throw new Error("nothing came");
    await fx.queue.adopt([taken], never);
    expect([await crashesOf(fx, taken.id), await crashesOf(fx, said.id)]).toEqual([1, 0]);
    await fx.queue.adopt([], never);
    expect(await crashesOf(fx, taken.id)).toBe(1);
    await mine.finish(DONE);
  });

  test("run alone when their turn may be what brings gateways down", async () => {
    await using fx = await queueWorld();
    let taken = await begun(fx, await came(fx, "a", ["poison"]));
    for (let crashes = 0; crashes < 2; crashes++) {
      await fx.store.turns.countCrashes(
        3,
        taken.flatMap(({ turnId }) => turnId ?? []),
      );
      taken = await begun(fx, taken);
    }
    await fx.say("b", "running");
    const running = await fx.take();
    await fx.queue.adopt(taken, never);
    await fx.say("c", "waits");
    await running.finish(DONE);
    const suspect = await fx.take();
    expect([words(suspect), fx.queue.stats()]).toEqual([["poison"], { waiting: 1, running: 1 }]);
    await suspect.finish(DONE);
    expect(await fx.answer()).toEqual(["waits"]);
  });
});
