/** What every store promises about the gateways that use it: each is a node from its start to its end, and others can see which live. */
import { expect, test } from "bun:test";
import type { Store } from "../../../contracts/store.ts";
import { row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const MANY = 100;

async function nodeOf(store: Store, { instanceId }: Pick<Store, "instanceId">) {
  return (await store.nodes.list(MANY)).find(({ id }) => id === instanceId);
}

export function nodePromises(open: () => Promise<StoreWorld>): void {
  test("a gateway is a live node from its start on, drains when it says so, and is gone after its end", async () => {
    await using world = await open();
    const { store } = world;
    expect(await nodeOf(store, store)).toMatchObject({ state: "live", version: "unknown", takenOverBy: null });
    expect(await nodeOf(store, store)).toMatchObject(store.nodes.self);
    expect(store.nodes.self.name).toMatch(/:\d+$/);
    expect(store.nodes.isHeld()).toBe(true);
    await store.nodes.drain();
    expect(await nodeOf(store, store)).toMatchObject({ state: "draining" });
    const next = await world.reopen();
    expect(await nodeOf(next, store)).toMatchObject({ state: "gone", takenOverBy: null });
    await next.nodes.drain();
    expect(await nodeOf(next, store)).toMatchObject({ state: "gone" });
  });

  test("nodes are listed by their start, the newest first, up to a limit, with times by the clock of the database", async () => {
    await using world = await open();
    const before = world.store;
    const store = await world.reopen();
    const listed = await store.nodes.list(MANY);
    expect(listed.slice(0, 2).map(({ id }) => id)).toEqual([store.instanceId, before.instanceId]);
    expect(await store.nodes.list(1)).toEqual(listed.slice(0, 1));
    const [me] = listed;
    expect(me?.renewedAt).toBeGreaterThanOrEqual(me?.startedAt ?? Infinity);
    expect(Math.abs((me?.startedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    if (world.isShared) expect(me?.expiresAt).toBeGreaterThan(me?.renewedAt ?? Infinity);
    else expect(me?.expiresAt).toBeNull();
  });

  test("a gateway says which settings and plugins are in force there, and everybody sees what it has to do", async () => {
    await using world = await open();
    const { store } = world;
    expect(await nodeOf(store, store)).toMatchObject({ settings: null, plugins: null });
    await store.nodes.describe({ settings: "s1", plugins: "p1" });
    expect(await nodeOf(store, store)).toMatchObject({ settings: "s1", plugins: "p1" });
    expect(await store.nodes.work()).toEqual([]);
    await store.inbox.accept(row("one", "a"));
    await store.inbox.accept(row("two", "a"));
    await store.turns.begin(turn("t1", "a", ["one"]));
    await store.nodeLeases.acquire({ kind: "session", key: sessionKey("a") });
    await store.nodeLeases.acquire({ kind: "platform", key: "telegram" });
    await store.nodeLeases.acquire({ kind: "platform", key: "discord" });
    await store.nodeLeases.acquire({ kind: "heartbeat", key: "all" });
    const work = { waiting: 2, running: 1, sessions: 1, platforms: ["discord", "telegram"], heartbeat: true };
    expect(await store.nodes.work()).toEqual([{ node: store.instanceId, ...work }]);
  });

  test("a gateway that ended and left something is taken over from once, and one that left nothing is not", async () => {
    await using world = await open();
    const { store } = world;
    expect(await store.nodes.takeOver()).toBeNull();
    if (!world.isShared) return; // one gateway holds the file: whoever ended left it to the next start
    const [busy, idle] = [await world.openSecond(), await world.openSecond()];
    await busy.inbox.accept(row("left", "a"));
    await idle[Symbol.asyncDispose]();
    expect(await store.nodes.takeOver()).toBeNull();
    await busy[Symbol.asyncDispose]();
    expect(await store.nodes.takeOver()).toMatchObject({ from: [{ id: busy.instanceId }], messages: [{ id: "left" }] });
    expect(await store.nodes.takeOver()).toBeNull();
    expect((await store.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["left"]);
    expect(await nodeOf(store, busy)).toMatchObject({ state: "gone", takenOverBy: store.instanceId });
    expect(await nodeOf(store, idle)).toMatchObject({ state: "gone", takenOverBy: null });
  });

  test("who watches for gateways that are gone hears of none while there are none", async () => {
    await using world = await open();
    const heard: unknown[] = [];
    using _watch = world.store.nodes.watch((taken) => heard.push(taken));
    expect(heard).toEqual([]);
  });
}
