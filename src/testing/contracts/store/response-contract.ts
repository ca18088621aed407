/** What every store promises about responses of programs: they belong to one person, follow each other, and go a conversation at a time. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../contracts/ids.ts";
import type { StoredResponse } from "../../../contracts/store/responses.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

const ADA = "key:user:ada" as Principal;

export function storedResponse(id: string, more: Partial<StoredResponse> = {}): StoredResponse {
  const json = { said: { messages: [{ role: "user", text: `said with ${id}` }] }, body: { id, object: "response" } };
  return { id, principal: OPERATOR, chain: id, previous: null, createdAt: 1_000, ended: true, ...json, ...more };
}

export const KEEPS_ALL = { maxResponses: 100, maxChars: 100_000_000 };

const MOST = { maxResponses: 3, maxChars: 10_000 };

export function responseContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("a response is there after a restart, for whoever asked for it and for nobody else", async () => {
      await using world = await open();
      await world.store.responses.put(storedResponse("r1"), KEEPS_ALL);
      const { responses } = await world.reopen();
      expect(await responses.find("r1", OPERATOR)).toEqual(storedResponse("r1"));
      expect([await responses.find("r1", ADA), await responses.chain("r1", ADA, MOST)]).toEqual([null, "missing"]);
      expect([await responses.remove("r1", ADA), await responses.remove("r1", OPERATOR)]).toEqual([false, true]);
      expect(await responses.find("r1", OPERATOR)).toBeNull();
    });

    test("a response that was begun is replaced by how it ended", async () => {
      await using world = await open();
      const { responses } = world.store;
      await responses.put(storedResponse("r1", { ended: false, body: { status: "queued" } }), KEEPS_ALL);
      expect((await responses.open()).map(({ id }) => id)).toEqual(["r1"]);
      await responses.put(storedResponse("r1", { body: { status: "completed" } }), KEEPS_ALL);
      expect([await responses.open(), (await responses.find("r1", OPERATOR))?.body]).toEqual([
        [],
        { status: "completed" },
      ]);
    });

    test("a response that another gateway answers is known to be there, to its owner, until it has ended", async () => {
      await using world = await open();
      const second = await world.openSecond();
      await world.store.responses.put(storedResponse("r1", { ended: false }), KEEPS_ALL);
      expect(await second.responses.answeredBy("r1", OPERATOR)).toBe(world.store.instanceId);
      expect([
        await world.store.responses.answeredBy("r1", OPERATOR),
        await second.responses.answeredBy("r1", ADA),
      ]).toEqual([null, null]);
      await world.store.responses.put(storedResponse("r1"), KEEPS_ALL);
      expect(await second.responses.answeredBy("r1", OPERATOR)).toBeNull();
    });

    test("a conversation is found from its last response on, oldest first, whole or not at all", async () => {
      await using world = await open();
      const { responses } = world.store;
      await responses.put(storedResponse("r1"), KEEPS_ALL);
      await responses.put(storedResponse("r2", { chain: "r1", previous: "r1" }), KEEPS_ALL);
      await responses.put(storedResponse("r3", { chain: "r1", previous: "r2" }), KEEPS_ALL);
      const chain = await responses.chain("r3", OPERATOR, MOST);
      expect(chain).toMatchObject([{ id: "r1" }, { id: "r2" }, { id: "r3" }]);
      expect(await responses.chain("r3", OPERATOR, { ...MOST, maxResponses: 2 })).toBe("too_long");
      expect(await responses.chain("r3", OPERATOR, { ...MOST, maxChars: 10 })).toBe("too_long");
      await responses.remove("r1", OPERATOR);
      expect(await responses.chain("r3", OPERATOR, MOST)).toBe("missing");
    });

    test("a conversation is taken away whole when its newest response is old", async () => {
      await using world = await open();
      const { responses } = world.store;
      await responses.put(storedResponse("old"), KEEPS_ALL);
      await responses.put(storedResponse("r1"), KEEPS_ALL);
      await responses.put(storedResponse("r2", { chain: "r1", previous: "r1", createdAt: 5_000 }), KEEPS_ALL);
      expect(await responses.prune(2_000)).toBe(1);
      expect(await responses.find("old", OPERATOR)).toBeNull();
      expect(await responses.chain("r2", OPERATOR, MOST)).toHaveLength(2);
    });

    test("each person has a share in number and size, and the oldest conversations beyond it go with what is put", async () => {
      await using world = await open();
      const { responses } = world.store;
      const there = async (...ids: readonly string[]) => {
        const found: string[] = [];
        for (const id of ids) if (await responses.find(id, OPERATOR)) found.push(id);
        return found;
      };
      const few = { ...KEEPS_ALL, maxResponses: 2 };
      await responses.put(storedResponse("of-ada", { principal: ADA }), few);
      for (const [at, id] of ["a", "b", "c"].entries()) await responses.put(storedResponse(id, { createdAt: at }), few);
      expect(await there("a", "b", "c")).toEqual(["b", "c"]);
      expect((await responses.find("of-ada", ADA))?.id).toBe("of-ada");
      const large = (id: string, at: number) =>
        storedResponse(id, { createdAt: at, body: { id, object: "response", text: "x".repeat(1_000) } });
      const small = { ...KEEPS_ALL, maxChars: 2_500 };
      const second = await world.reopen(); // what a previous process has stored counts
      await second.responses.put(large("d", 10), small);
      await second.responses.put(large("e", 11), small);
      await second.responses.put(large("f", 12), small);
      const left: string[] = [];
      for (const id of ["b", "c", "d", "e", "f"]) if (await second.responses.find(id, OPERATOR)) left.push(id);
      expect(left).toEqual(["e", "f"]);
    });

    test("a response that is written twice counts once", async () => {
      await using world = await open();
      const { responses } = world.store;
      const share = { ...KEEPS_ALL, maxResponses: 2 };
      await responses.put(storedResponse("a", { createdAt: 1 }), share);
      for (let times = 0; times < 5; times++) await responses.put(storedResponse("b", { createdAt: 2 }), share);
      expect((await responses.find("a", OPERATOR))?.id).toBe("a");
    });
  });
}
