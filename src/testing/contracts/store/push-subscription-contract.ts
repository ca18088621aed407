/** What every store promises about browsers that get notifications: one row for each, and each change is on the audit log. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../contracts/ids.ts";
import type { NewPushSubscription } from "../../../contracts/store/push-subscriptions.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

export function newSubscription(id: string, more: Partial<NewPushSubscription> = {}): NewPushSubscription {
  return {
    id,
    principal: OPERATOR,
    signIn: `sign-in of ${id}`,
    endpoint: `https://push.example.org/${id}`,
    p256dh: `key of ${id}`,
    auth: `secret of ${id}`,
    browser: "Chrome on Android",
    createdAt: 1_000,
    ...more,
  };
}

const UNSENT = { sentAt: null, problem: null };
const MOST = 20;

export function pushSubscriptionContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("browsers are there after a restart, newest first, as they asked", async () => {
      await using world = await open();
      const { pushSubscriptions } = world.store;
      await pushSubscriptions.put(newSubscription("s1"), MOST);
      expect(await pushSubscriptions.put(newSubscription("s2"), MOST)).toEqual({ ...newSubscription("s2"), ...UNSENT });
      const again = (await world.reopen()).pushSubscriptions;
      expect(await again.list()).toEqual(["s2", "s1"].map((id) => ({ ...newSubscription(id), ...UNSENT })));
      expect([(await again.find("s1"))?.browser, await again.find("s9")]).toEqual(["Chrome on Android", null]);
    });

    test("a browser that asks again keeps its id, and gets the keys and the sign-in of now", async () => {
      await using world = await open();
      const { pushSubscriptions, audit } = world.store;
      const first = newSubscription("s1");
      const changed = { ...newSubscription("s2"), endpoint: first.endpoint, createdAt: 2_000 };
      for (const asked of [first, first, changed]) await pushSubscriptions.put(asked, 1);
      expect(await pushSubscriptions.list()).toEqual([{ ...changed, id: "s1", createdAt: 1_000, ...UNSENT }]);
      const { items } = await audit.list({ limit: 9 }, "notifications.on");
      expect(items.map(({ at, subject }) => [at, subject])).toEqual([
        [2_000, "s1"],
        [1_000, "s1"],
      ]);
      expect(JSON.stringify(items)).not.toMatch(/push\.example|secret of|sign-in of/);
    });

    test("a person has no more browsers than allowed, and another person has their own", async () => {
      await using world = await open();
      const { pushSubscriptions } = world.store;
      await pushSubscriptions.put(newSubscription("s1"), 1);
      expect(await pushSubscriptions.put(newSubscription("s2"), 1)).toBeNull();
      const other = newSubscription("s3", { principal: "key:user:k1" as Principal });
      expect(await pushSubscriptions.put(other, 1)).toMatchObject({ id: "s3" });
      expect((await pushSubscriptions.list()).map(({ id }) => id)).toEqual(["s3", "s1"]);
    });

    test("a browser remembers how its last notification went", async () => {
      await using world = await open();
      const { pushSubscriptions } = world.store;
      await pushSubscriptions.put(newSubscription("s1"), MOST);
      await pushSubscriptions.note("s1", { at: 5_000, problem: "its push service answered with status 500" });
      expect(await pushSubscriptions.find("s1")).toMatchObject({
        sentAt: 5_000,
        problem: "its push service answered with status 500",
      });
      await pushSubscriptions.note("s1", { at: 6_000, problem: null });
      expect(await (await world.reopen()).pushSubscriptions.find("s1")).toMatchObject({ sentAt: 6_000, problem: null });
    });

    test("a browser is removed once, and the audit log says by whom", async () => {
      await using world = await open();
      const { pushSubscriptions, audit } = world.store;
      await pushSubscriptions.put(newSubscription("s1"), MOST);
      const removed = [
        await pushSubscriptions.remove("s1", "gateway"),
        await pushSubscriptions.remove("s1", "gateway"),
      ];
      expect([removed, await pushSubscriptions.list()]).toEqual([[true, false], []]);
      expect((await audit.list({ limit: 9 }, "notifications.off")).items).toMatchObject([
        { actor: "gateway", subject: "s1", detail: { browser: "Chrome on Android" } },
      ]);
    });
  });
}
