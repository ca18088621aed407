import { describe, expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import type { TurnStore } from "../../contracts/store/turns.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

const turnId = "turn_1" as TurnId;
const found = {
  turn: { turnId, sessionKey: "agent:default:api:dm:notes" as SessionKey } as never,
  spans: [{ name: "queued", startMs: 0, ms: 1 }],
  toolCalls: [],
  deliveredAt: 5,
};

/** A server whose store holds one turn, and what its list was asked for. */
function turnWorld() {
  const world = startHttpWorld();
  const asked: Parameters<TurnStore["list"]>[] = [];
  const turns: Pick<TurnStore, "list" | "get"> = {
    async list(...args) {
      asked.push(args);
      return { items: [found], next: "more" };
    },
    get: async (id) => (id === turnId ? found : null),
  };
  Object.assign(world.deps.store.turns, turns);
  return { world, asked };
}

describe("GET /api/turns", () => {
  test("asks for what the query says, by short name or full key, and hands limit and cursor on", async () => {
    const { world, asked } = turnWorld();
    await using _world = world;
    const response = await world.call("/api/turns");
    expect(await response.json()).toEqual({ items: [found], next: "more" });
    await world.call("/api/turns?session=notes&outcome=failed&limit=2&cursor=abc");
    await world.call("/api/turns?session=agent%3Adefault%3Awebchat%3Adm%3A42");
    expect(asked).toEqual([
      [{ within: null }, { limit: 50 }],
      [
        { sessionKey: "agent:default:api:dm:notes" as SessionKey, outcome: "failed", within: null },
        { limit: 2, cursor: "abc" },
      ],
      [{ sessionKey: "agent:default:webchat:dm:42" as SessionKey, within: null }, { limit: 50 }],
    ]);
  });

  test("refuses what it does not understand instead of listing everything", async () => {
    const { world, asked } = turnWorld();
    await using _world = world;
    for (const query of ["outcome=great", "limit=0", "limit=201", "limit=x", "since=1", "session=Not%20One"]) {
      const response = await world.call(`/api/turns?${query}`);
      expect([query, response.status]).toEqual([query, 422]);
    }
    expect(asked).toEqual([]);
  });
});

describe("GET /api/turns/:id", () => {
  test("shows one turn, and says so when there is none", async () => {
    const { world } = turnWorld();
    await using _world = world;
    expect(await (await world.call("/api/turns/turn_1")).json()).toEqual(found);
    const missing = await world.call("/api/turns/turn_2");
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { message: "There is no such turn." } });
  });
});

describe("metrics", () => {
  test("come as JSON for programs and as text for Prometheus, with a bearer token", async () => {
    await using world = startHttpWorld();
    const asJson = await world.call("/api/metrics");
    expect(await asJson.json()).toMatchObject({
      pool: { idle: 1, max: 4 },
      latency: { answer: { count: 0, p50: null } },
    });
    const asText = await world.call("/metrics");
    expect(asText.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await asText.text()).toContain('pi_gateway_agents{state="idle"} 1\n');
  });
});
