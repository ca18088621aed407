/** What every store promises about replies on their way. Each promise is a test; a store passes them all or is not one. */
import { describe, expect, test } from "bun:test";
import type { Store } from "../../contracts/store.ts";
import { end, row, type StoreWorld, turn } from "./store-world.ts";

export function outboxContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => outboxPromises(open));
}

/** Each a turn of one part, in a session of its own; its text is its name. */
async function withReplies(store: Store, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await store.inbox.accept(row(`in-${name}`, name));
    await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
    await store.turns.finish(end(`t-${name}`, { reply: [{ part: 0, message: { text: name, kind: "reply" } }] }));
  }
}

function outboxPromises(open: () => Promise<StoreWorld>): void {
  test("how far a send came, and what is planned after it, is known after a restart", async () => {
    await using world = await open();
    await withReplies(world.store, ["one"]);
    await world.store.outbox.markSending("t-one:0", { attempts: 1, lost: 0, at: 4_000 });
    const second = await world.reopen();
    expect(await second.outbox.pending(10)).toMatchObject([{ state: "sending", attempts: 1, firstTriedAt: 4_000 }]);
    const plan = { attempts: 2, lost: 1, firstTriedAt: 4_000, nextTryAt: 9_000 };
    await second.outbox.markWaiting("t-one:0", { ...plan, because: "503" });
    const third = await world.reopen();
    expect(await third.outbox.pending(10)).toMatchObject([{ state: "pending", ...plan }]);
  });

  test("a part that has ended stays as it is, whatever comes late", async () => {
    await using world = await open();
    const { outbox } = world.store;
    await withReplies(world.store, ["one"]);
    await outbox.settle("t-one:0", { state: "ambiguous", because: "lost", providerId: "p1" }, 4_000);
    await outbox.markSending("t-one:0", { attempts: 9, lost: 9, at: 5_000 });
    await outbox.markWaiting("t-one:0", { attempts: 9, lost: 9, firstTriedAt: 1, nextTryAt: 1, because: "x" });
    await outbox.markSent(["t-one:0"], 5_000);
    await outbox.settle("t-one:0", { state: "dead", because: "x" }, 5_000);
    expect(await outbox.pending(10)).toEqual([]);
    const { items } = await outbox.list("ambiguous", { limit: 10 });
    expect(items).toMatchObject([{ id: "t-one:0", because: "lost", attempts: 0, endedAt: 4_000, providerId: "p1" }]);
  });

  test("replies that did not arrive are listed by their end, page after page, each once", async () => {
    await using world = await open();
    const { outbox } = world.store;
    const names = ["a", "b", "c", "d", "e"];
    await withReplies(world.store, [...names, "fine", "doubt"]);
    for (const [index, name] of names.entries())
      await outbox.settle(`t-${name}:0`, { state: "dead", because: "gone" }, index < 3 ? 4_000 : 4_000 + index);
    await outbox.markSent(["t-fine:0"], 9_000);
    await outbox.settle("t-doubt:0", { state: "ambiguous", because: "lost" }, 9_000);
    const seen: string[] = [];
    for (let page = await outbox.list("dead", { limit: 2 }); ;) {
      seen.push(...page.items.map(({ message: said }) => said.text));
      if (page.next === undefined) break;
      page = await outbox.list("dead", { limit: 2, cursor: page.next });
    }
    expect(seen).toEqual(["e", "d", "c", "b", "a"]);
    expect(await outbox.endsSince("dead", 4_000, 10)).toEqual([4_004, 4_003]);
    expect(await outbox.endsSince("ambiguous", 0, 10)).toEqual([9_000]);
  });
}
