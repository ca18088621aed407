/** What every store promises about things that one gateway at a time may do. */
import { expect, test } from "bun:test";
import type { LeasedThing } from "../../../contracts/store/node-leases.ts";
import type { Store } from "../../../contracts/store.ts";
import { end, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const BOT: LeasedThing = { kind: "platform", key: "telegram" };
const OTHER: LeasedThing = { kind: "platform", key: "discord" };

export function nodeLeasePromises(open: () => Promise<StoreWorld>): void {
  test("a lease is one gateway's until it gives it back, under a number that grows when it changes hands", async () => {
    await using world = await open();
    const { nodeLeases, nodes } = world.store;
    expect(await nodeLeases.heldBy(BOT)).toBeNull();
    const first = await nodeLeases.acquire(BOT);
    expect(first).toMatchObject({
      kind: "mine",
      lease: { owner: nodes.self.id, ownerName: nodes.self.name, number: 1 },
    });
    expect(await nodeLeases.acquire(BOT)).toEqual(first);
    expect(await nodeLeases.heldBy(BOT)).toEqual(first.lease);
    expect([await nodeLeases.heldBy(OTHER), (await nodeLeases.acquire(OTHER)).lease.number]).toEqual([null, 1]);
    expect(await nodeLeases.release(BOT, 2)).toBe(false);
    expect(await nodeLeases.release(BOT, 1)).toBe(true);
    expect(await nodeLeases.release(BOT, 1)).toBe(false);
    expect(await nodeLeases.heldBy(BOT)).toBeNull();
    expect(await nodeLeases.acquire(BOT)).toMatchObject({ kind: "mine", lease: { number: 2 } });
  });

  test("a lease ends with its gateway, and the next owner has a greater number", async () => {
    await using world = await open();
    const before = world.store;
    await before.nodeLeases.acquire(BOT);
    const { nodeLeases, instanceId } = await world.reopen();
    expect(await nodeLeases.heldBy(BOT)).toBeNull();
    expect(await nodeLeases.release(BOT, 1)).toBe(false);
    expect(await nodeLeases.acquire(BOT)).toMatchObject({ kind: "mine", lease: { owner: instanceId, number: 2 } });
  });

  test("a session with messages that a gateway left is not free before somebody has taken over from it", async () => {
    await using world = await open();
    if (!world.isShared) return;
    const other = await world.openSecond();
    const session: LeasedThing = { kind: "session", key: sessionKey("a") };
    await other.nodeLeases.acquire(session);
    await other.inbox.accept(row("msg_1", "a"));
    await other[Symbol.asyncDispose]();
    const { nodeLeases, nodes, instanceId } = world.store;
    expect(await nodeLeases.acquire(session)).toMatchObject({ kind: "held", lease: { owner: other.instanceId } });
    expect(await nodeLeases.acquire({ ...session, key: sessionKey("b") })).toMatchObject({ kind: "mine" });
    await nodes.takeOver();
    expect(await nodeLeases.acquire(session)).toMatchObject({ kind: "mine", lease: { owner: instanceId } });
  });

  test.each(["before", "after"])(
    "the lease of a session is kept with the session, and forgotten when it was given back %s the session is deleted",
    async (when) => {
      await using world = await open();
      const { nodeLeases, sessions } = world.store;
      const thing: LeasedThing = { kind: "session", key: sessionKey("a") };
      await answerOne(world.store);
      await nodeLeases.acquire(thing);
      await nodeLeases.release(thing, 1);
      expect((await nodeLeases.acquire(thing)).lease.number).toBe(2);
      if (when === "before") await nodeLeases.release(thing, 2);
      expect(await sessions.remove(sessionKey("a"))).toMatchObject({ kind: "removed" });
      if (when === "after") {
        expect(await nodeLeases.heldBy(thing)).toMatchObject({ number: 2 });
        await nodeLeases.release(thing, 2);
      }
      expect((await nodeLeases.acquire(thing)).lease.number).toBe(1);
    },
  );

  test("a session is taken from another gateway with all that waits in it, under the number it was promised under and no other", async () => {
    await using world = await open();
    if (!world.isShared) return;
    const { store } = world;
    const other = await world.openSecond();
    const session: LeasedThing = { kind: "session", key: sessionKey("a") };
    const { lease } = await other.nodeLeases.acquire(session);
    await other.inbox.accept(row("msg_1", "a"));
    await other.inbox.accept(row("msg_2", "a"));
    await other.inbox.accept(row("msg_3", "b"));
    const take = (number: number) => store.nodeLeases.takeSession(sessionKey("a"), { owner: other.instanceId, number });
    expect([await take(lease.number + 1), await store.nodeLeases.renumber(session, lease.number)]).toEqual([
      null,
      null,
    ]);
    expect(await other.nodeLeases.renumber(session, lease.number)).toBe(lease.number + 1);
    expect(await take(lease.number)).toBeNull(); // it was promised, and not any more
    expect(await store.inbox.unfinished()).toEqual([]);
    const taken = await take(lease.number + 1);
    expect(taken?.map(({ id }) => String(id))).toEqual(["msg_1", "msg_2"]);
    expect((await store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["msg_1", "msg_2"]);
    expect((await other.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["msg_3"]);
    expect(await store.nodeLeases.heldBy(session)).toMatchObject({ owner: store.instanceId, number: lease.number + 2 });
    expect(await take(lease.number + 2)).toBeNull();
  });

  test("a session with a running turn is not taken from another gateway", async () => {
    await using world = await open();
    if (!world.isShared) return;
    const other = await world.openSecond();
    const { lease } = await other.nodeLeases.acquire({ kind: "session", key: sessionKey("a") });
    await other.inbox.accept(row("msg_1", "a"));
    await other.turns.begin(turn("t1", "a", ["msg_1"]));
    const from = { owner: other.instanceId, number: lease.number };
    expect(await world.store.nodeLeases.takeSession(sessionKey("a"), from)).toBeNull();
    expect(await other.inbox.unfinished()).toHaveLength(1);
  });

  test("of several gateways that ask for a lease at once, one gets it, and the others are told who has it", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const live = world.isShared ? stores : stores.slice(-1); // where a file is held by one gateway, the others are gone
    const answers = await Promise.all(live.map(({ nodeLeases }) => nodeLeases.acquire(BOT)));
    expect(answers.filter(({ kind }) => kind === "mine")).toHaveLength(1);
    const owner = live[answers.findIndex(({ kind }) => kind === "mine")];
    expect(answers.map(({ lease }) => lease.owner)).toEqual(live.map(() => owner?.instanceId ?? expect.anything()));
    for (const { nodeLeases } of stores) expect((await nodeLeases.heldBy(BOT))?.owner).toBe(owner?.instanceId);
  });
}

/** A message of session a, and the turn that answers it. */
async function answerOne({ inbox, turns }: Store): Promise<void> {
  await inbox.accept(row("msg_1", "a"));
  await turns.begin(turn("turn_1", "a", ["msg_1"]));
  await turns.finish(end("turn_1"));
}
