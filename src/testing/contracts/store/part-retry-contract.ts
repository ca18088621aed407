/** What every store promises about replies that a person has sent again. */
import { describe, expect, test } from "bun:test";
import type { TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { end, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const ASKED = { by: OPERATOR, mayRepeat: false };
const SURE = { by: OPERATOR, mayRepeat: true };
const DEAD = { state: "dead", because: "403 blocked" } as const;
const DOUBTFUL = { state: "ambiguous", because: "lost" } as const;
const SENT = { state: "sent", because: null } as const;

/** A turn in a session of its own, in one chat with the others; its parts are `t-NAME:0`, `t-NAME:1`, … */
async function reply(store: Store, name: string, parts = 1): Promise<void> {
  await store.inbox.accept(row(`in-${name}`, name));
  await store.turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
  const said = Array.from({ length: parts }, (_, part) => ({
    part,
    message: { text: `${name} ${part}`, kind: "reply" } as const,
  }));
  await store.turns.finish(end(`t-${name}`, { reply: said }));
}

const pendingIds = async ({ outbox }: Store) => (await outbox.pending(10)).map(({ id }) => id);
const listed = async ({ outbox }: Store, state: "dead" | "ambiguous") =>
  (await outbox.list(state, { limit: 10 })).items;
const found = async ({ sessions }: Store, words: string) =>
  (await sessions.searchMessages({ words }, { limit: 10 })).items.map(({ id }) => id);
const retries = async ({ audit }: Store) => (await audit.list({ limit: 10 }, "reply.retried")).items;

export function partRetryContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("a reply that was given up waits again with nothing tried yet, and the audit log says who wanted it", async () => {
      await using world = await open();
      const { outbox } = world.store;
      await reply(world.store, "a");
      await outbox.markSending("t-a:0", {
        attempts: 7,
        lost: 1,
        delivered: 2,
        doubt: true,
        at: 4_000,
        claimedUntil: 5_000,
      });
      await outbox.settle("t-a:0", DEAD, 4_500);
      expect(await outbox.retry("t-a:0", ASKED, 9_000)).toEqual({ kind: "retried", from: "dead", endedAt: 4_500 });
      const fresh = { attempts: 0, lost: 0, delivered: 0, doubt: false, firstTriedAt: null, nextTryAt: null };
      const again = { id: "t-a:0", state: "pending", createdAt: 3_000, ...fresh, retried: { at: 9_000, from: "dead" } };
      expect(await outbox.pending(10)).toMatchObject([again]);
      expect(await listed(world.store, "dead")).toEqual([]);
      expect(await outbox.endsSince("dead", 0, 10)).toEqual([]);
      expect(await outbox.isOwed("t-a" as TurnId)).toBe(true);
      const reopened = await world.reopen();
      expect(await reopened.outbox.pending(10)).toMatchObject([again]);
      expect(await retries(reopened)).toMatchObject([
        {
          at: 9_000,
          actor: OPERATOR,
          subject: "t-a:0",
          detail: { sessionKey: sessionKey("a"), channel: "webchat", from: "dead", attempts: 7 },
        },
      ]);
    });

    test("a reply that is sent again comes after everything that was stored before, also after a restart", async () => {
      await using world = await open();
      await reply(world.store, "a", 2);
      await world.store.outbox.settle("t-a:0", DEAD, 4_000);
      await reply(world.store, "b");
      await world.store.outbox.retry("t-a:0", ASKED, 9_000);
      await reply(world.store, "c");
      const order = ["t-a:1", "t-b:0", "t-a:0", "t-c:0"];
      expect(await pendingIds(world.store)).toEqual(order);
      expect(await pendingIds(await world.reopen())).toEqual(order);
    });

    test("a reply that was sent again keeps its place in the transcript, and is found by its words once", async () => {
      await using world = await open();
      await reply(world.store, "a", 2);
      await reply(world.store, "b");
      await world.store.outbox.settle("t-a:0", DEAD, 4_000);
      await world.store.outbox.retry("t-a:0", ASKED, 9_000);
      const { items } = await world.store.sessions.transcript(sessionKey("a"), { limit: 10 });
      expect(items.map(({ text }) => text)).toEqual(["text of event-in-a", "a 0", "a 1"]);
      expect(await found(world.store, "a 0")).toEqual(["t-a:0"]);
    });

    test("a reply that was sent again and then deleted is found no more, not even as a reply that has its number", async () => {
      await using world = await open();
      await reply(world.store, "a");
      expect(await found(world.store, "a 0")).toEqual(["t-a:0"]);
      await world.store.outbox.settle("t-a:0", DEAD, 4_000);
      await world.store.outbox.retry("t-a:0", ASKED, 9_000);
      expect(await world.store.sessions.remove(sessionKey("a"))).toMatchObject({ kind: "removed" });
      await reply(world.store, "b");
      expect([await found(world.store, "a 0"), await found(world.store, "b 0")]).toEqual([[], ["t-b:0"]]);
      expect(await world.store.outbox.retry("t-a:0", ASKED, 9_000)).toEqual({ kind: "unknown" });
    });

    test("a reply in doubt is sent again only for somebody who knows that it may be shown twice", async () => {
      await using world = await open();
      const { outbox } = world.store;
      await reply(world.store, "a");
      await outbox.settle("t-a:0", DOUBTFUL, 4_000);
      const before = await listed(world.store, "ambiguous");
      expect(await outbox.retry("t-a:0", ASKED, 9_000)).toEqual({ kind: "in_doubt" });
      expect([await listed(world.store, "ambiguous"), await pendingIds(world.store)]).toEqual([before, []]);
      expect(await outbox.retry("t-a:0", SURE, 9_000)).toMatchObject({ kind: "retried", from: "ambiguous" });
      expect(await pendingIds(world.store)).toEqual(["t-a:0"]);
    });

    test("a doubt stays in the list when the reply was sent again: while it waits, when it has arrived, and when it is given up", async () => {
      await using world = await open();
      const { outbox } = world.store;
      for (const name of ["a", "b", "c", "d"]) await reply(world.store, name);
      for (const [name, at] of [
        ["a", 4_000],
        ["b", 5_000],
        ["c", 6_000],
      ] as const)
        await outbox.settle(`t-${name}:0`, DOUBTFUL, at);
      await outbox.settle("t-d:0", DEAD, 7_000);
      for (const name of ["a", "b", "d"]) await outbox.retry(`t-${name}:0`, SURE, 9_000);
      await outbox.settle("t-a:0", SENT, 9_100);
      await outbox.settle("t-d:0", SENT, 9_100);
      const retried = { at: 9_000, from: "ambiguous" } as const;
      const all = [
        { id: "t-b:0", state: "ambiguous", endedAt: 9_000, retried: { ...retried, now: "pending" } },
        { id: "t-a:0", state: "ambiguous", endedAt: 9_000, retried: { ...retried, now: "sent" } },
        { id: "t-c:0", state: "ambiguous", endedAt: 6_000 },
      ];
      expect(await listed(world.store, "ambiguous")).toMatchObject(all);
      expect(await listed(world.store, "dead")).toEqual([]);
      const seen: string[] = [];
      for (let page = await outbox.list("ambiguous", { limit: 1 }); ;) {
        seen.push(...page.items.map(({ id }) => id));
        if (page.next === undefined) break;
        page = await outbox.list("ambiguous", { limit: 1, cursor: page.next });
      }
      expect(seen).toEqual(all.map(({ id }) => id));
      await outbox.settle("t-b:0", DOUBTFUL, 9_500);
      const [latest] = await listed(world.store, "ambiguous");
      expect(latest).toMatchObject({ id: "t-b:0", endedAt: 9_500, retried: { ...retried, now: "ambiguous" } });
    });

    test("a reply that waits, is being sent, has arrived, was deleted or does not exist is not sent again and leaves no entry", async () => {
      await using world = await open();
      const { outbox } = world.store;
      for (const name of ["waits", "sends", "sent", "deleted"]) await reply(world.store, name);
      await outbox.markSending("t-sends:0", {
        attempts: 1,
        lost: 0,
        delivered: 0,
        doubt: false,
        at: 4_000,
        claimedUntil: 5_000,
      });
      await outbox.settle("t-sent:0", SENT, 4_000);
      await outbox.settle("t-deleted:0", DEAD, 4_000);
      await outbox.rewrite(sessionKey("deleted"), "t-deleted:0", null, 4_100);
      const results = await Promise.all(
        ["t-waits:0", "t-sends:0", "t-sent:0", "t-deleted:0", "nope"].map((id) => outbox.retry(id, SURE, 9_000)),
      );
      expect(results).toEqual([
        { kind: "not_lost", state: "pending" },
        { kind: "not_lost", state: "sending" },
        { kind: "not_lost", state: "sent" },
        { kind: "deleted" },
        { kind: "unknown" },
      ]);
      expect(await pendingIds(world.store)).toEqual(["t-waits:0", "t-sends:0"]);
      expect(await retries(world.store)).toEqual([]);
    });

    test("a reply that several people send again at the same moment, at several gateways, is sent again once", async () => {
      await using world = await open();
      const stores = world.isShared ? [world.store, await world.openSecond()] : [world.store, world.store];
      await reply(world.store, "a");
      await world.store.outbox.settle("t-a:0", DEAD, 4_000);
      const results = await Promise.all(
        [...stores, ...stores].map(({ outbox }) => outbox.retry("t-a:0", ASKED, 9_000)),
      );
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(["not_lost", "not_lost", "not_lost", "retried"]);
      expect((await Promise.all([...new Set(stores)].map(pendingIds))).flat()).toEqual(["t-a:0"]);
      expect(await retries(world.store)).toHaveLength(1);
    });

    test("a reply that is sent again belongs to the gateway that was asked, and the one before records nothing about it", async () => {
      await using world = await open();
      const other = await world.openSecond();
      await reply(world.store, "a");
      await world.store.outbox.settle("t-a:0", DEAD, 4_000);
      expect(await other.outbox.retry("t-a:0", ASKED, 9_000)).toMatchObject({ kind: "retried" });
      expect(await pendingIds(other)).toEqual(["t-a:0"]);
      expect(await world.store.outbox.settle("t-a:0", DEAD, 9_100)).toBe(false);
      expect([await pendingIds(world.store), await pendingIds(other)]).toEqual([[], ["t-a:0"]]);
      expect(await other.outbox.settle("t-a:0", SENT, 9_200)).toBe(true);
    });
  });
}
