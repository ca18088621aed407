/** What every store promises about requests with an Idempotency-Key: one gateway answers, and everybody is told that answer. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../contracts/ids.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

const ADA = "key:user:ada" as Principal;

/** A request with this key. */
export function keyed(key: string, more: { readonly principal?: Principal; readonly digest?: string } = {}) {
  return { principal: OPERATOR, key, digest: "d", at: 1_000, ...more };
}

export function idempotentAnswerContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("an answer is told again after a restart, to whoever asked and for the same request", async () => {
      await using world = await open();
      const { idempotentAnswers } = world.store;
      expect(await idempotentAnswers.claim(keyed("k"))).toEqual({ kind: "mine" });
      await idempotentAnswers.keep(keyed("k"), { text: "hello" });
      const later = (await world.reopen()).idempotentAnswers;
      expect(await later.claim(keyed("k"))).toEqual({ kind: "answered", answer: { text: "hello" } });
      expect(await later.claim(keyed("k", { digest: "other" }))).toEqual({ kind: "reused" });
      expect(await later.claim(keyed("k", { principal: ADA }))).toEqual({ kind: "mine" });
    });

    test("a request that was not answered is answered anew, also when its gateway is gone", async () => {
      await using world = await open();
      const { idempotentAnswers } = world.store;
      await idempotentAnswers.claim(keyed("dropped"));
      await idempotentAnswers.drop(keyed("dropped"));
      expect(await idempotentAnswers.claim(keyed("dropped", { digest: "other" }))).toEqual({ kind: "mine" });
      await idempotentAnswers.claim(keyed("left"));
      const later = (await world.reopen()).idempotentAnswers;
      expect(await later.claim(keyed("left"))).toEqual({ kind: "mine" });
    });

    test("answers go when they are old", async () => {
      await using world = await open();
      const { idempotentAnswers } = world.store;
      for (const at of [1, 2, 3]) {
        await idempotentAnswers.claim({ ...keyed(`k${at}`), at });
        await idempotentAnswers.keep(keyed(`k${at}`), at);
      }
      expect(await idempotentAnswers.prune(3)).toBe(2);
      expect(await idempotentAnswers.claim(keyed("k3"))).toEqual({ kind: "answered", answer: 3 });
      expect(await idempotentAnswers.claim(keyed("k2"))).toEqual({ kind: "mine" });
    });
  });
}
