/** What the tables of channels promise: people who ask for access, facts, spoken words, and how much a person has sent. */
import { expect, test } from "bun:test";
import type { PairingRow } from "../../../contracts/channels/pairing.ts";
import type { MediaId, Principal } from "../../../contracts/ids.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

const EVE = "telegram:user:9" as Principal;

const asking = (id: string, more: Partial<PairingRow> = {}): PairingRow => ({
  id,
  channel: "telegram",
  account: "main",
  principal: EVE,
  name: "Eve",
  digest: `digest of ${id}`,
  state: "pending",
  createdAt: 1_000,
  expiresAt: 2_000,
  decidedAt: null,
  decidedBy: null,
  ...more,
});

export function pairingPromises(open: () => Promise<StoreWorld>): void {
  test("a person who asks for access is one row for each account, over a restart", async () => {
    await using world = await open();
    await world.store.pairings.put(asking("p1"));
    await world.store.pairings.put(asking("p2", { account: "second" }));
    const approved = asking("p1", { state: "approved", decidedAt: 1_500, decidedBy: OPERATOR });
    await world.store.pairings.put(approved);
    expect(await (await world.reopen()).pairings.list()).toEqual([approved, asking("p2", { account: "second" })]);
  });

  test("what has expired without being approved goes when somebody else comes", async () => {
    await using world = await open();
    const { pairings } = world.store;
    await pairings.put(asking("p1", { state: "approved" }));
    await pairings.put(asking("p2", { principal: "telegram:user:2" as Principal }));
    await pairings.put(asking("p3", { principal: "telegram:user:3" as Principal, createdAt: 2_000, expiresAt: 3_000 }));
    expect((await pairings.list()).map(({ id }) => id)).toEqual(["p1", "p3"]);
  });

  test("facts of channels are apart by channel, account and key", async () => {
    await using world = await open();
    await world.store.channelState.put("telegram", "main", "offset", "5");
    await world.store.channelState.put("telegram", "main", "offset", "6");
    await world.store.channelState.put("telegram", "second", "offset", "7");
    const { channelState } = await world.reopen();
    expect(await channelState.get("telegram", "main", "offset")).toBe("6");
    expect(await channelState.get("discord", "main", "offset")).toBeNull();
    await channelState.forget("telegram", "main", "offset");
    expect(await channelState.get("telegram", "main", "offset")).toBeNull();
    expect(await channelState.get("telegram", "second", "offset")).toBe("7");
  });

  test("facts of a channel are listed by how their key begins", async () => {
    await using world = await open();
    const { channelState } = world.store;
    for (const [account, key] of [
      ["main", "preview:b"],
      ["main", "preview:a"],
      ["main", "previous"],
      ["second", "preview:c"],
    ] as const)
      await channelState.put("telegram", account, key, `value of ${key}`);
    expect(await channelState.list("telegram", "main", "preview:")).toEqual([
      { key: "preview:a", value: "value of preview:a" },
      { key: "preview:b", value: "value of preview:b" },
    ]);
    expect(await channelState.list("discord", "main", "preview:")).toEqual([]);
  });

  test("spoken words are kept for a while", async () => {
    await using world = await open();
    const { transcriptions } = world.store;
    await transcriptions.put("d1", "hello", 1_000);
    expect(await transcriptions.find("d1")).toBe("hello");
    await transcriptions.put("d2", "later", 1_000 + 91 * 86_400_000);
    expect(await transcriptions.find("d1")).toBeNull();
  });

  test("what a person has sent since a moment is added up, and nobody else's", async () => {
    await using world = await open();
    const { media } = world.store;
    const put = (id: string, owner: Principal, at: number, bytes: number) =>
      media.put({ mediaId: id as MediaId, owner, name: "n", mimeType: "t", data: new Uint8Array(bytes), at });
    await put("media_1", EVE, 10, 5);
    await put("media_2", EVE, 20, 7);
    await put("media_3", OPERATOR, 20, 100);
    expect(await media.bytesSince(EVE, 0)).toBe(12);
    expect(await media.bytesSince(EVE, 20)).toBe(7);
    expect(await media.bytesSince(EVE, 21)).toBe(0);
  });
}
