/** What every store promises about its books. */
import { describe, expect, test } from "bun:test";
import type { AgentId, Principal } from "../../../contracts/ids.ts";
import { type Spent, USAGE_BY, type UsageBy } from "../../../contracts/store/usage.ts";
import { AGENT, end, OPERATOR, row, type StoreWorld, turn } from "./store-world.ts";

export function spent(id: string, more: Partial<Spent> = {}): Spent {
  return {
    id,
    day: "2026-01-10",
    agentId: AGENT,
    principal: OPERATOR,
    origin: "chat",
    model: "fake/one",
    usage: { inputTokens: 100, cachedTokens: 40, outputTokens: 10, costUsd: 0.5 },
    ...more,
  };
}

const JANUARY = { from: "2026-01-01", to: "2026-01-31" };

export function usageContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("a row counts once, however often it is written", async () => {
      await using world = await open();
      expect([await world.store.usage.record(spent("a")), await world.store.usage.record(spent("a"))]).toEqual([
        true,
        false,
      ]);
      const { total } = await (await world.reopen()).usage.report({ ...JANUARY, by: "day" }, { limit: 10 });
      expect(total).toEqual({ turns: 1, inputTokens: 100, cachedTokens: 40, outputTokens: 10, costUsd: 0.5 });
    });

    test("the end of a turn writes its row in the same transaction, and only when it really ends", async () => {
      await using world = await open();
      const { store } = world;
      await store.inbox.accept(row("in1", "a"));
      await store.turns.begin(turn("t1", "a", ["in1"]));
      const turns = async () => (await store.usage.report({ ...JANUARY, by: "day" }, { limit: 10 })).total.turns;
      expect(await store.turns.finish(end("t1", { attempt: 7, spent: spent("t1") }))).toBeNull();
      expect(await turns()).toBe(0);
      expect(await store.turns.finish(end("t1", { spent: spent("t1") }))).not.toBeNull();
      expect(await turns()).toBe(1);
    });

    test("is added up by day, agent, origin, model and person, the dearest first and days from the latest", async () => {
      await using world = await open();
      const { usage } = world.store;
      const dear = { usage: { inputTokens: 1, outputTokens: 1, costUsd: 9 } };
      await usage.record(spent("a", { day: "2026-01-01", origin: "cron" }));
      await usage.record(spent("b", { day: "2026-01-31", agentId: "helper" as AgentId, origin: "delegate", ...dear }));
      await usage.record(spent("c", { principal: "telegram:user:1" as Principal, model: "fake/two" }));
      for (const day of ["2025-12-31", "2026-02-01"]) await usage.record(spent(day, { day }));
      const keys = async (by: UsageBy) =>
        (await usage.report({ ...JANUARY, by }, { limit: 10 })).items.map(({ key, costUsd }) => `${key} ${costUsd}`);
      expect(await keys("day")).toEqual(["2026-01-31 9", "2026-01-10 0.5", "2026-01-01 0.5"]);
      expect(await keys("agent")).toEqual(["helper 9", "default 1"]);
      expect(await keys("origin")).toEqual(["delegate 9", "chat 0.5", "cron 0.5"]);
      expect(await keys("model")).toEqual(["fake/one 9.5", "fake/two 0.5"]);
      expect(await keys("principal")).toEqual(["operator 9.5", "telegram:user:1 0.5"]);
    });

    test("a long list comes in pages, each with the total of all", async () => {
      await using world = await open();
      const { usage } = world.store;
      for (let day = 1; day <= 5; day++) await usage.record(spent(`d${day}`, { day: `2026-01-0${day}` }));
      const first = await usage.report({ ...JANUARY, by: "day" }, { limit: 3 });
      const second = await usage.report({ ...JANUARY, by: "day" }, { limit: 3, cursor: first.next ?? "" });
      expect([...first.items, ...second.items].map(({ key }) => key.slice(-1))).toEqual(["5", "4", "3", "2", "1"]);
      expect([first.total.turns, second.total.turns, second.next]).toEqual([5, 5, undefined]);
    });

    test("is the same as a whole, and forgotten from a day on", async () => {
      await using world = await open();
      const { usage } = world.store;
      await usage.record(spent("a"));
      await usage.record(spent("b"));
      await usage.record(spent("c", { origin: "cron", day: "2026-01-09" }));
      const day = { from: "2026-01-10", to: "2026-01-10" };
      const two = { turns: 2, inputTokens: 200, cachedTokens: 80, outputTokens: 20, costUsd: 1 };
      for (const [by, key] of [
        ["origin", "chat"],
        ["agent", AGENT],
        ["principal", OPERATOR],
        ["model", "fake/one"],
        ["day", "2026-01-10"],
      ] as const)
        expect(await usage.sums({ ...day, by })).toEqual([{ key, ...two }]);
      expect((await usage.sums({ ...JANUARY, by: "origin" })).length).toBe(2);
      expect(await usage.prune("2026-01-10")).toBe(1);
      for (const by of USAGE_BY) expect((await usage.sums({ ...JANUARY, by })).length).toBe(1);
    });
  });
}
