/** The shipped store, queue, flow and outbox in a simulated world. `npm run sim` plays more seeds; docs/reliability.md says what is checked. */
import { expect, test } from "bun:test";
import { blankDisk } from "../src/testing/disk.ts";
import { testPostgres } from "../src/testing/postgres/database.ts";
import { runSeed } from "../verification/sim/run.ts";

/** Each is a fraction of a second. `npm run sim -- --seeds 1000` is the long run. */
const SEEDS = 36;
/** Rare worlds: a turn begun again with too many rights, and what was said later answered before what was said first. */
const ONCE_BROKEN = [1499, 4749, 5859, 5927, 7647, 9435, 12267, 12663, 12921, 13881, 9100011, 9206460];
const TWICE = 3;
/** Worlds in which the agents come from the shipped pool. */
const POOL_SEEDS = 10;
const POOL_TWICE = 2;
const LIMIT_MS = 120_000;
/** A short world on a real Postgres server, with crashes, zombies and troubles of the disk. `npm run sim -- --store postgres --seeds 200` is the long run. */
const POSTGRES_SEED = 23;

test(
  "every promise is kept in 48 worlds in which processes, agents, platforms and the disk fail",
  async () => {
    const totals = {
      crashes: 0,
      stops: 0,
      turns: 0,
      zombies: 0,
      storeFailures: 0,
      duplicates: 0,
      refused: 0,
      joined: 0,
      overflow: 0,
      expired: 0,
      takenBack: 0,
      chosen: 0,
      messages: 0,
      skipped: 0,
      poisoned: 0,
    };
    const blank = blankDisk();
    const broken: Record<string, readonly string[]> = {};
    for (const seed of [
      ...Array(SEEDS)
        .keys()
        .map((at) => at + 1),
      ...ONCE_BROKEN,
    ]) {
      const { broken: found, counts } = await runSeed(seed, blank);
      if (found.length > 0) broken[`npm run sim -- --seed ${seed}`] = found;
      for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += counts[name];
    }
    expect(broken).toEqual({});
    expect(Math.min(...Object.values(totals))).toBeGreaterThan(10); // else the worlds were too kind
  },
  LIMIT_MS,
);

test(
  "every promise is kept with the shipped pool as well, and those of the pool: who shares a process, how many there are, what is left",
  async () => {
    const blank = blankDisk();
    const broken: Record<string, readonly string[]> = {};
    let started = 0;
    for (let seed = 1; seed <= POOL_SEEDS; seed++) {
      const once = await runSeed(seed, blank, { shippedPool: true });
      if (once.broken.length > 0) broken[`npm run sim -- --pool --seed ${seed}`] = once.broken;
      started += once.trace.filter((line) => / process \d+ starts$/.test(line)).length;
      if (seed > POOL_TWICE) continue;
      expect((await runSeed(seed, blank, { shippedPool: true })).hash).toBe(once.hash);
    }
    expect(broken).toEqual({});
    expect(started).toBeGreaterThan(POOL_SEEDS * 5); // else there was nothing to choose from
  },
  LIMIT_MS,
);

test(
  "a seed plays the same again, to the last event",
  async () => {
    const blank = blankDisk();
    for (let seed = 1; seed <= TWICE; seed++) {
      const [once, again] = [await runSeed(seed, blank), await runSeed(seed, blank)];
      expect(again.trace).toEqual(once.trace);
      expect(again.hash).toBe(once.hash);
    }
  },
  LIMIT_MS,
);

test.skipIf((await testPostgres()) === null)(
  "every promise is kept on a real Postgres server, whose processes end with each life of the gateway",
  async () => {
    const { broken, counts } = await runSeed(POSTGRES_SEED, undefined, { store: "postgres" });
    expect(broken).toEqual([]);
    expect(counts.turns).toBeGreaterThan(0);
    expect(counts.crashes).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
