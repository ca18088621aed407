/** What every store promises about the audit log besides tool calls: an entry is on the disk when it was noted, and is read as it was written. */
import { describe, expect, test } from "bun:test";
import type { NewAuditEntry } from "../../../contracts/store/tool-calls.ts";
import type { StoreWorld } from "./store-world.ts";

const entry = (at: number, more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  kind: "config.reloaded",
  at,
  actor: "gateway",
  subject: "",
  detail: { changed: ["queue.ttlMs"] },
  ...more,
});

export function auditContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("an entry is there after a restart, as it was noted", async () => {
      await using world = await open();
      await world.store.audit.note(entry(1));
      const { audit } = await world.reopen();
      expect((await audit.list({ limit: 9 })).items).toMatchObject([entry(1)]);
    });

    test("entries are listed latest first, by kind and page by page", async () => {
      await using world = await open();
      const { audit } = world.store;
      for (const at of [1, 2, 3]) await audit.note(entry(at));
      await audit.note(entry(4, { kind: "sign_in", actor: "operator", detail: {} }));
      const first = await audit.list({ limit: 2 }, "config.reloaded");
      expect(first.items.map(({ at }) => at)).toEqual([3, 2]);
      const rest = await audit.list({ limit: 2, ...(first.next ? { cursor: first.next } : {}) }, "config.reloaded");
      expect(rest.items.map(({ at }) => at)).toEqual([1]);
      expect((await audit.list({ limit: 9 }, "sign_in")).items).toMatchObject([{ at: 4, actor: "operator" }]);
    });
  });
}
