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

const KEEPS_ALL = { maxResponses: 100, maxChars: 1_000_000 };

const MOST = { maxResponses: 3, maxChars: 10_000 };

export function responseContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    test("a response is there after a restart, for whoever asked for it and for nobody else", async () => {
      await using world = await open();
      await world.store.responses.put(storedResponse("r1"));
      const { responses } = await world.reopen();
      expect(await responses.find("r1", OPERATOR)).toEqual(storedResponse("r1"));
      expect([await responses.find("r1", ADA), await responses.chain("r1", ADA, MOST)]).toEqual([null, "missing"]);
      expect([await responses.remove("r1", ADA), await responses.remove("r1", OPERATOR)]).toEqual([false, true]);
      expect(await responses.find("r1", OPERATOR)).toBeNull();
    });

    test("a response that was begun is replaced by how it ended", async () => {
      await using world = await open();
      const { responses } = world.store;
      await responses.put(storedResponse("r1", { ended: false, body: { status: "queued" } }));
      expect((await responses.open()).map(({ id }) => id)).toEqual(["r1"]);
      await responses.put(storedResponse("r1", { body: { status: "completed" } }));
      expect([await responses.open(), (await responses.find("r1", OPERATOR))?.body]).toEqual([
        [],
        { status: "completed" },
      ]);
    });

    test("a conversation is found from its last response on, oldest first, whole or not at all", async () => {
      await using world = await open();
      const { responses } = world.store;
      await responses.put(storedResponse("r1"));
      await responses.put(storedResponse("r2", { chain: "r1", previous: "r1" }));
      await responses.put(storedResponse("r3", { chain: "r1", previous: "r2" }));
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
      await responses.put(storedResponse("old"));
      await responses.put(storedResponse("r1"));
      await responses.put(storedResponse("r2", { chain: "r1", previous: "r1", createdAt: 5_000 }));
      expect(await responses.prune(2_000)).toBe(1);
      expect(await responses.find("old", OPERATOR)).toBeNull();
      expect(await responses.chain("r2", OPERATOR, MOST)).toHaveLength(2);
    });

    test("each person has a share, and the oldest conversations beyond it go first", async () => {
      await using world = await open();
      const { responses } = world.store;
      for (const [at, id] of ["a", "b", "c"].entries()) await responses.put(storedResponse(id, { createdAt: at }));
      await responses.put(storedResponse("of-ada", { principal: ADA }));
      expect(await responses.trim(OPERATOR, { ...KEEPS_ALL, maxResponses: 2 })).toBe(1);
      expect([await responses.find("a", OPERATOR), (await responses.find("of-ada", ADA))?.id]).toEqual([
        null,
        "of-ada",
      ]);
      const chars = JSON.stringify(storedResponse("c").said).length + JSON.stringify(storedResponse("c").body).length;
      expect(await responses.trim(OPERATOR, { ...KEEPS_ALL, maxChars: chars + 20 })).toBe(1);
      expect((await responses.find("c", OPERATOR))?.id).toBe("c");
    });
  });
}
