import { expect, test } from "bun:test";
import type { TroubledPart } from "../../contracts/delivery.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";

function part(id: string, state: TroubledPart["state"]): TroubledPart {
  return {
    id,
    state,
    turnId: "t" as TurnId,
    sessionKey: API_SESSION,
    part: 0,
    message: { text: "words", kind: "reply" },
    to: { channel: "api", account: "default", chat: "1" },
    createdAt: 1,
    outcome: "done",
    because: "403 blocked",
    attempts: 1,
    firstTriedAt: 2,
    endedAt: 3,
    providerId: null,
  };
}

test("the operator sees which replies did not arrive, and why", async () => {
  await using world = startHttpWorld();
  world.troubled.push(part("t:0", "dead"), part("t:1", "ambiguous"), part("t:2", "dead"));
  const idsOf = async (path: string) =>
    ((await (await world.call(path)).json()) as { items: TroubledPart[] }).items.map(({ id }) => id);
  expect(await idsOf("/api/outbox?state=dead")).toEqual(["t:0", "t:2"]);
  expect(await idsOf("/api/outbox")).toEqual(["t:0", "t:2"]);
  expect(await idsOf("/api/outbox?state=dead&limit=1")).toEqual(["t:0"]);
  expect(await idsOf("/api/outbox?state=ambiguous")).toEqual(["t:1"]);
});

test("a list of replies that makes no sense is refused, and strangers get none at all", async () => {
  await using world = startHttpWorld();
  for (const query of ["state=sent", "state=dead&limit=0", "state=dead&limit=9999", "what=ever"])
    expect([query, (await world.call(`/api/outbox?${query}`)).status]).toEqual([query, 422]);
  expect((await fetch(world.url("/api/outbox?state=dead"))).status).toBe(401);
});
