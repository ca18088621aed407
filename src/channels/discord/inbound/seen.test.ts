/** How far channels of Discord were read, when several things happen to the list at once and the disk is slow. */
import { expect, test } from "bun:test";
import { deferred } from "../../../kit/deferred.ts";
import { snowflakeAt } from "../settings.ts";
import { createSeen } from "./seen.ts";

const id = (n: number): string => String(BigInt(snowflakeAt(1_700_000_000_000)) + BigInt(n));

/** `held`: writes wait for it. */
function slowDisk(stored: Record<string, string> = {}) {
  const kept = new Map(Object.entries(stored));
  const disk = { held: Promise.resolve(), writes: [] as string[], reads: 0 };
  const facts = {
    async get(key: string) {
      disk.reads++;
      return kept.get(key) ?? null;
    },
    async put(key: string, value: string) {
      await disk.held;
      disk.writes.push(key);
      kept.set(key, value);
    },
    async forget(key: string) {
      await disk.held;
      kept.delete(key);
    },
    list: async () => [],
  };
  return { disk, facts, kept };
}

test("the list of channels is read after what is being written to it", async () => {
  const { disk, facts } = slowDisk();
  const seen = createSeen(facts);
  const go = deferred<void>();
  disk.held = go.promise;
  const noted = seen.note({ id: "1", guild: "7" }, id(1));
  const known = seen.known();
  go.resolve();
  await noted;
  expect(await known).toEqual([{ id: "1", guild: "7" }]);
});

test("a channel that is forgotten while another one is noted takes nothing of that one with it", async () => {
  const { disk, facts, kept } = slowDisk();
  const seen = createSeen(facts);
  await seen.note({ id: "1", guild: null }, id(1));
  const go = deferred<void>();
  disk.held = go.promise;
  const both = [seen.note({ id: "2", guild: null }, id(2)), seen.forget("1")];
  go.resolve();
  await Promise.all(both);
  expect([await seen.known(), kept.has("last:1"), await seen.last("2")]).toEqual([
    [{ id: "2", guild: null }],
    false,
    id(2),
  ]);
});

test("a channel is listed before anything is noted about it, and forgotten whole", async () => {
  const { disk, facts, kept } = slowDisk();
  const seen = createSeen(facts);
  await seen.note({ id: "1", guild: null }, id(1));
  expect(disk.writes).toEqual(["channels", "last:1"]);
  await seen.forget("1");
  expect([await seen.last("1"), await seen.known(), [...kept.keys()]]).toEqual([null, [], ["channels"]]);
});

test("a note that could not be written keeps nothing else from being written", async () => {
  const { facts, kept } = slowDisk();
  const seen = createSeen({
    ...facts,
    put: (key, value) => (key === "last:1" ? Promise.reject(new Error("disk full")) : facts.put(key, value)),
  });
  const [failed, done] = await Promise.allSettled([
    seen.note({ id: "1", guild: null }, id(1)),
    seen.note({ id: "2", guild: null }, id(2)),
  ]);
  expect([failed.status, done.status, kept.get("last:2")]).toEqual(["rejected", "fulfilled", id(2)]);
  expect(await seen.last("1")).toBeNull(); // what is not on the disk was not read
});

test("how far a channel was read never goes back, however many messages came out of order", async () => {
  const { facts, kept } = slowDisk();
  const seen = createSeen(facts);
  for (const n of [1, 5, 4, 3]) await seen.note({ id: "1", guild: null }, id(n));
  expect([kept.get("last:1"), await seen.last("1")]).toEqual([id(5), id(5)]);
});

test("how far a channel was read is asked of the disk once, and what is damaged there counts as unread", async () => {
  const { disk, facts } = slowDisk({ "last:1": id(1), "last:2": "yesterday" });
  const seen = createSeen(facts);
  expect([await seen.last("1"), await seen.last("1"), disk.reads]).toEqual([id(1), id(1), 1]);
  expect(await seen.last("2")).toBeNull();
});

test("the channel that was used longest ago makes room for a new one, and the newest is not written again", async () => {
  const { disk, facts } = slowDisk();
  const seen = createSeen(facts);
  for (let n = 0; n < 200; n++) await seen.note({ id: `c${n}`, guild: null }, id(n));
  disk.writes.length = 0;
  await seen.note({ id: "c199", guild: null }, id(300));
  expect(disk.writes).toEqual(["last:c199"]);
  await seen.note({ id: "c0", guild: null }, id(301));
  expect(disk.writes.slice(1)).toEqual(["channels", "last:c0"]);
  expect((await seen.known()).at(-1)?.id).toBe("c0");
});
