/** A response that runs in the background at one gateway, asked for at another one on the same Postgres database. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { OtherNodes } from "../../contracts/nodes.ts";
import type { ResponseEvent } from "../../contracts/responses.ts";
import { systemClock } from "../../kit/clock.ts";
import { KEEPS_ALL, storedResponse } from "../../testing/contracts/store/response-contract.ts";
import { OPERATOR } from "../../testing/contracts/store/store-world.ts";
import { testPostgres } from "../../testing/postgres/database.ts";
import { createPostgresWorlds } from "../../testing/postgres/store-world.ts";
import { createKept } from "./kept.ts";

setDefaultTimeout(30_000);

const never = new AbortController().signal;
const body = (status: string) => ({ id: "r1", object: "response", background: true, status, output: [] });

describe.skipIf((await testPostgres()) === null)("a response that runs at another gateway", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  async function runningElsewhere() {
    const world = await worlds.open();
    const { responses, instanceId } = world.store;
    const put = (status: string, ended: boolean) =>
      responses.put(storedResponse("r1", { ended, body: body(status) }), KEEPS_ALL);
    await put("in_progress", false);
    const asked: unknown[] = [];
    const ask = (async (...question: unknown[]) => {
      asked.push(question);
      await put("cancelled", true);
      return null;
    }) as OtherNodes["ask"];
    const { responses: store } = await world.openSecond();
    const kept = createKept({ clock: systemClock, store, nodes: { ask } }, { find: () => null });
    return { kept, asked, put, instanceId, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  test("a cancelled response is stopped at the gateway that answers it", async () => {
    await using world = await runningElsewhere();
    expect(await world.kept.cancel("r1", OPERATOR)).toMatchObject({ status: "cancelled" });
    const question = [world.instanceId, "responses.cancel", { id: "r1", principal: OPERATOR }];
    expect(world.asked).toEqual([question]);
    expect(await world.kept.cancel("r1", OPERATOR)).toMatchObject({ status: "cancelled" });
    expect(world.asked).toHaveLength(1);
  });

  test("a followed response is shown whole when it has ended there, and not before", async () => {
    await using world = await runningElsewhere();
    const events: ResponseEvent[] = [];
    const shown = world.kept.follow({ id: "r1", principal: OPERATOR, after: 4 }, (event) => events.push(event), never);
    await world.kept.find("r1", OPERATOR); // behind the first look
    expect(events).toEqual([]);
    await world.put("completed", true);
    await shown;
    expect(events).toMatchObject([{ type: "response.completed", sequence_number: 5 }]);
  });
});
