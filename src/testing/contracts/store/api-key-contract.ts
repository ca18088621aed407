/** What every store promises about keys of programs: they come back as they were made, and each change is on the audit log. */
import { describe, expect, test } from "bun:test";
import { keyPrincipal } from "../../../contracts/api-keys.ts";
import type { StoredApiKey } from "../../../contracts/store/api-keys.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

export function storedKey(id: string, more: Partial<StoredApiKey> = {}): StoredApiKey {
  return {
    id,
    digest: `digest of ${id}`,
    name: "Home Assistant",
    scopes: ["chat", "tools"],
    agents: ["default", "helper"],
    tools: ["notes_*"],
    dailyUsd: 0.5,
    dailyTokens: 1_000,
    requestsPerMinute: 60,
    expiresAt: 9_000,
    createdAt: 1_000,
    createdBy: OPERATOR,
    lastUsedAt: null,
    ...more,
  };
}

const WITHOUT_LIMITS = { dailyUsd: null, dailyTokens: null, requestsPerMinute: null, expiresAt: null } as const;

export function apiKeyContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("keys are there after a restart, newest first, as they were made", async () => {
      await using world = await open();
      const second = storedKey("k2", WITHOUT_LIMITS);
      await world.store.apiKeys.put(storedKey("k1"));
      await world.store.apiKeys.put(second);
      expect(await (await world.reopen()).apiKeys.list()).toEqual([second, storedKey("k1")]);
    });

    test("two keys never have one digest", async () => {
      await using world = await open();
      await world.store.apiKeys.put(storedKey("k1"));
      const same = storedKey("k2", { digest: "digest of k1" });
      await expect(world.store.apiKeys.put(same)).rejects.toThrow();
      expect(await world.store.apiKeys.list()).toEqual([storedKey("k1")]);
    });

    test("a key remembers when it was used last", async () => {
      await using world = await open();
      await world.store.apiKeys.put(storedKey("k1"));
      await world.store.apiKeys.touch("k1", 5_000);
      await world.store.apiKeys.touch("no such key", 6_000);
      expect(await (await world.reopen()).apiKeys.list()).toEqual([storedKey("k1", { lastUsedAt: 5_000 })]);
    });

    test("a removed key is gone, once, and its two audit entries stay", async () => {
      await using world = await open();
      const { apiKeys, audit } = world.store;
      await apiKeys.put(storedKey("k1"));
      await apiKeys.put(storedKey("k2"));
      expect([await apiKeys.remove("k1", OPERATOR), await apiKeys.remove("k1", OPERATOR)]).toEqual([true, false]);
      expect((await apiKeys.list()).map(({ id }) => id)).toEqual(["k2"]);
      const about = { actor: OPERATOR, subject: keyPrincipal("k1") };
      expect((await audit.list({ limit: 9 }, "key.revoked")).items).toMatchObject([
        { ...about, detail: { name: "Home Assistant" } },
      ]);
      const made = (await audit.list({ limit: 9 }, "key.made")).items;
      expect(made.map(({ subject }) => subject)).toEqual([keyPrincipal("k2"), keyPrincipal("k1")]);
      expect(made.at(-1)).toMatchObject({
        ...about,
        at: 1_000,
        detail: { name: "Home Assistant", scopes: ["chat", "tools"] },
      });
      expect(JSON.stringify(made)).not.toContain("digest");
    });
  });
}
