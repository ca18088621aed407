/** What every store promises about requests to hooks: each has its effect once, whatever comes back, before and after a crash. */
import { describe, expect, test } from "bun:test";
import type { MarkedRequest } from "../../../contracts/store/webhook-marks.ts";
import type { StoreWorld } from "../store/store-world.ts";

export function marked(more: Partial<MarkedRequest> = {}): MarkedRequest {
  const names = { requestId: "hook_1", hook: "build", signed: "s1", key: null, fingerprint: "f1" };
  return { ...names, at: 1_000, expiresAt: 10_000, ...more };
}

export function hookMarkContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("a signed request is begun once; the same one again is a replay, after a crash too", async () => {
      await using world = await open();
      const { webhookMarks } = world.store;
      expect(await webhookMarks.admit(marked())).toEqual({ kind: "begin", requestId: "hook_1" });
      await webhookMarks.stored("hook_1");
      const again = marked({ requestId: "hook_2" });
      expect(await webhookMarks.admit(again)).toEqual({ kind: "replayed", requestId: "hook_1" });
      const { webhookMarks: later } = await world.reopen();
      expect(await later.admit({ ...again, key: "another key" })).toEqual({ kind: "replayed", requestId: "hook_1" });
      expect((await later.admit(marked({ signed: "s2", requestId: "hook_3" }))).kind).toBe("begin");
    });

    test("what was begun and not stored is begun again under its id", async () => {
      await using world = await open();
      await world.store.webhookMarks.admit(marked());
      const { webhookMarks } = await world.reopen();
      expect(await webhookMarks.admit(marked({ requestId: "hook_2" }))).toEqual({ kind: "begin", requestId: "hook_1" });
      await webhookMarks.stored("hook_1");
      expect((await webhookMarks.admit(marked({ requestId: "hook_3" }))).kind).toBe("replayed");
    });

    test("a key with the same content is the same request, under whichever signature, and with another content refused", async () => {
      await using world = await open();
      const { webhookMarks } = world.store;
      const keyed = marked({ key: "k1" });
      await webhookMarks.admit(keyed);
      await webhookMarks.stored("hook_1");
      const signedAgain = { ...keyed, requestId: "hook_2", signed: "s2" };
      expect(await webhookMarks.admit(signedAgain)).toEqual({ kind: "same", requestId: "hook_1" });
      expect(await webhookMarks.admit({ ...signedAgain, fingerprint: "f2" })).toEqual({ kind: "key_reused" });
      // whoever caught the second one gains nothing by leaving its key out
      expect((await webhookMarks.admit({ ...signedAgain, key: null })).kind).toBe("replayed");
    });

    test("hooks do not know each other's requests, and what has expired is forgotten", async () => {
      await using world = await open();
      const { webhookMarks } = world.store;
      await webhookMarks.admit(marked({ key: "k1" }));
      await webhookMarks.stored("hook_1");
      const elsewhere = marked({ hook: "other", key: "k1", requestId: "hook_2" });
      expect(await webhookMarks.admit(elsewhere)).toEqual({ kind: "begin", requestId: "hook_2" });
      const later = marked({ key: "k1", requestId: "hook_3", at: 10_000, expiresAt: 20_000 });
      expect(await webhookMarks.admit(later)).toEqual({ kind: "begin", requestId: "hook_3" });
    });

    test("of many at the same time one is new", async () => {
      await using world = await open();
      const { webhookMarks } = world.store;
      const all = Array.from({ length: 20 }, (_, at) => webhookMarks.admit(marked({ requestId: `hook_${at}` })));
      expect(new Set((await Promise.all(all)).map((one) => "requestId" in one && one.requestId))).toEqual(
        new Set(["hook_0"]),
      );
    });
  });
}
