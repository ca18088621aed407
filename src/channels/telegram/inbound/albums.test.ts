/** Albums and cut texts on their way: each piece is kept, delivered once, and nothing stays behind when they are delivered or stopped. */
import { expect, test } from "bun:test";
import type { Update } from "grammy/types";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import type { AccountState } from "../../kit/index.ts";
import { createAlbums } from "./albums.ts";

const piece = (id: number): Update => ({ update_id: id });

function world(deliver: (ids: readonly number[]) => Promise<boolean> = async () => true) {
  const clock = createFakeClock();
  const kept = new Map<string, string>();
  const disk = { fails: 0, failedPuts: 0 };
  const facts = {
    async get(key: string) {
      if (disk.fails-- > 0) throw new Error("disk full");
      return kept.get(key) ?? null;
    },
    async put(key: string, value: string) {
      if (disk.failedPuts-- > 0) throw new Error("disk full");
      kept.set(key, value);
    },
  } as unknown as AccountState;
  const delivered: (readonly number[])[] = [];
  const log = recordingLog();
  const stop = new AbortController();
  const albums = createAlbums(
    { clock, log, facts },
    async (pieces, signal) => {
      if (signal !== stop.signal) throw new Error("nobody could give it up");
      const ids = pieces.map(({ update_id }) => update_id);
      delivered.push(ids);
      return deliver(ids);
    },
    stop.signal,
  );
  return { clock, kept, disk, delivered, log, albums, stop: () => stop.abort(new Error("stopping")) };
}

test("albums: a piece that comes while its album is delivered begins another album, and is delivered too", async () => {
  const end = Promise.withResolvers<boolean>();
  const at = world(() => end.promise);
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  expect(at.delivered).toEqual([[1]]);
  const late = at.albums.add("1", "a", piece(2));
  expect(at.albums.newest("1", "a")).toBeNull();
  await at.clock.advance(0);
  end.resolve(true);
  await waitForEnd("the late piece", late);
  await at.clock.advance(1_200);
  expect(at.delivered).toEqual([[1], [2]]);
  expect(JSON.parse(at.kept.get("albums") ?? "{}")).toEqual({ open: {}, done: [1, 2] });
});

test("albums: one that is being delivered is delivered once, however much is said in its chat meanwhile", async () => {
  const end = Promise.withResolvers<boolean>();
  const at = world(() => end.promise);
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  const flushes = [at.albums.flush("1"), at.albums.flush("1")];
  await at.clock.advance(0);
  expect(at.delivered).toEqual([[1]]);
  end.resolve(true);
  await waitForEnd("the flushes", Promise.all(flushes));
  expect(at.delivered).toEqual([[1]]);
});

test("albums: two hundred pieces that were delivered last are remembered, and no more", async () => {
  const at = world();
  for (let id = 1; id <= 201; id++) {
    await at.albums.add("1", `album ${id}`, piece(id), true);
    await at.albums.settled();
  }
  const { done } = JSON.parse(at.kept.get("albums") ?? "{}") as { done: number[] };
  expect([done.length, done[0], done.at(-1)]).toEqual([200, 2, 201]);
});

test("albums: a piece that is brought again, before or after its album was delivered, is delivered once", async () => {
  const at = world();
  for (let times = 0; times < 2; times++) await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(5_000);
  expect(at.delivered).toEqual([[1]]);
});

test("albums: pieces that arrive in another order than they were sent are delivered in the order they were sent", async () => {
  const at = world();
  for (const id of [3, 1, 2]) await at.albums.add("1", "a", piece(id));
  expect(at.albums.newest("1", "a")).toEqual(piece(3));
  await at.clock.advance(1_200);
  expect(at.delivered).toEqual([[1, 2, 3]]);
});

test("albums: a piece that could not be kept takes no other piece with it, and is taken when it is brought again", async () => {
  const at = world();
  at.disk.failedPuts = 1;
  const [first, second] = await Promise.allSettled([1, 2].map((id) => at.albums.add("1", "a", piece(id))));
  expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  expect(at.delivered).toEqual([[1, 2]]);
});

test("albums: one that was delivered while another piece of it was kept does not come back when that piece could not be", async () => {
  const at = world();
  await at.albums.add("1", "a", piece(1));
  at.disk.failedPuts = 1;
  const second = at.albums.add("1", "a", piece(2));
  void second.catch(() => undefined); // looked at below
  await at.albums.flush("1");
  await expect(second).rejects.toThrow("disk full");
  await at.albums.flush("1");
  expect(at.delivered).toEqual([[1, 2]]);
});

test("albums: two that come at the same time, in one chat or in two, are kept and delivered apart", async () => {
  const at = world();
  await at.albums.add("1", "a", piece(1));
  await at.albums.add("1", "b", piece(2));
  await at.albums.add("2", "a", piece(3));
  expect(Object.keys((JSON.parse(at.kept.get("albums") ?? "{}") as { open: object }).open)).toHaveLength(3);
  await at.albums.flush("1");
  expect(at.delivered).toEqual([[1], [2]]);
  await at.clock.advance(1_200);
  expect(at.delivered).toEqual([[1], [2], [3]]);
});

test("albums: each piece starts the wait anew, and as many pieces as there can be are delivered at once", async () => {
  const at = world();
  for (const id of [1, 2]) {
    await at.albums.add("1", "a", piece(id));
    await at.clock.advance(1_000);
  }
  expect([at.delivered, at.clock.pending()]).toEqual([[], 1]);
  for (let id = 3; id <= 50; id++) await at.albums.add("1", "a", piece(id));
  await at.clock.advance(0);
  expect([at.delivered.map(({ length }) => length), at.clock.pending()]).toEqual([[50], 0]);
});

test("albums: one that cannot be stored is tried again every second until it is", async () => {
  let failures = 2;
  const at = world(async () => {
    if (failures-- > 1) throw new Error("disk full");
    return failures < 0;
  });
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  await at.clock.advance(2_000);
  expect(at.delivered).toEqual([[1], [1], [1]]);
  await at.albums.add("1", "a", piece(2));
  await at.clock.advance(1_200);
  expect(at.delivered.at(-1)).toEqual([2]);
});

test.each(["waits for more", "is tried again"])(
  "albums: a stop while one %s leaves no timer, and it is kept",
  async (where) => {
    const at = world(async () => false);
    await at.albums.add("1", "a", piece(1));
    if (where === "is tried again") await at.clock.advance(1_500);
    at.stop();
    await waitForEnd("the end of all deliveries", at.albums.settled());
    await at.clock.advance(0);
    expect(at.clock.pending()).toBe(0);
    expect(at.kept.get("albums")).toContain('"update_id":1');
  },
);

test("albums: what an earlier process wrote down is delivered at the start", async () => {
  const at = world();
  at.kept.set("albums", JSON.stringify({ open: { '["1","a"]': [piece(1), piece(2)] }, done: [] }));
  await at.albums.resume();
  await waitForEnd("the delivery", at.albums.settled());
  expect(at.delivered).toEqual([[1, 2]]);
});

test("albums: nothing is kept of those that were delivered", async () => {
  const at = world();
  const kept = await keptPerRound(async (round) => {
    await at.albums.add(`chat ${round}`, `album ${round}`, piece(round));
    await at.clock.advance(1_200);
    at.delivered.length = 0;
  });
  expect(kept).toEqual({});
  expect(at.clock.pending()).toBe(0);
});

test("albums: a damaged note of the process before is left behind, and new albums are delivered", async () => {
  const at = world();
  at.kept.set("albums", '{"open":{"[');
  await at.albums.resume();
  await at.albums.add("1", "a", piece(1));
  await at.clock.advance(1_200);
  expect([at.delivered, at.log.lines.map(({ words }) => words)]).toEqual([[[1]], ["stored albums cannot be read"]]);
});

test("albums: what the process before wrote down is delivered as soon as it can be read", async () => {
  const at = world();
  at.kept.set("albums", JSON.stringify({ open: { '["1","a"]': [piece(1)] }, done: [] }));
  at.disk.fails = 2;
  const resumed = at.albums.resume();
  await at.clock.advance(3_000);
  await waitForEnd("the resume", resumed);
  await at.albums.settled();
  expect(at.delivered).toEqual([[1]]);
});
