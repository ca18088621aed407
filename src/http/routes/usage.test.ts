import { describe, expect, test } from "bun:test";
import type { UsageStore } from "../../contracts/store/usage.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

const total = { turns: 1, inputTokens: 10, cachedTokens: 4, outputTokens: 5, costUsd: 0.02 };
const items = [{ key: "2026-01-01", ...total }];

function usageWorld() {
  const asked: Parameters<UsageStore["report"]>[] = [];
  const world = startHttpWorld();
  const report: UsageStore["report"] = async (...args) => {
    asked.push(args);
    return { items, total };
  };
  Object.assign(world.deps.store.usage, { report });
  return { world, asked };
}

describe("GET /api/usage", () => {
  test("adds up the days of this month when nothing else is asked for, and says which days those are", async () => {
    const { world, asked } = usageWorld();
    await using _world = world;
    expect(await (await world.call("/api/usage")).json()).toEqual({
      from: "2026-01-01",
      to: "2026-01-01",
      timezone: "UTC",
      by: "day",
      items,
      total,
      limits: [],
    });
    await world.call("/api/usage?from=2025-12-24&to=2025-12-31&by=model&limit=7&cursor=50");
    await world.call("/api/usage?to=2025-11-20&by=principal");
    expect(asked).toEqual([
      [{ from: "2026-01-01", to: "2026-01-01", by: "day" }, { limit: 50 }],
      [
        { from: "2025-12-24", to: "2025-12-31", by: "model" },
        { limit: 7, cursor: "50" },
      ],
      [{ from: "2025-11-01", to: "2025-11-20", by: "principal" }, { limit: 50 }],
    ]);
  });

  test.each([
    ["by=colour", "`by` must be one of: day, agent, origin, model, principal"],
    ["from=yesterday", "from"],
    ["from=2026-02-31", "2026-02-31 is not a day."],
    ["from=2026-01-02&to=2026-01-01", "`from` is after `to`."],
    ["since=2026-01-01", "since"],
  ])("refuses %s with words that name it", async (query, words) => {
    const { world, asked } = usageWorld();
    await using _world = world;
    const response = await world.call(`/api/usage?${query}`);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain(words);
    expect(asked).toEqual([]);
  });

  test("is the owner's alone", async () => {
    const { world } = usageWorld();
    await using _world = world;
    expect((await fetch(`${world.http.url}/api/usage`)).status).toBe(401);
  });
});
