import { describe, expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { waitFor } from "../testing/wait-for.ts";
import type { CreateOptions } from "./create.ts";
import { backupName } from "./names.ts";
import { createBackups, dueAt } from "./schedule.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

describe("the next backup is due", () => {
  const at = (known: Partial<Parameters<typeof dueAt>[1]>) =>
    dueAt(24 * HOUR, { startedAt: 0, last: null, newestAt: null, ...known });

  test("a minute after the start when there is none, or the newest is old", () => {
    expect(at({})).toBe(MINUTE);
    expect(at({ newestAt: -30 * HOUR })).toBe(MINUTE);
  });
  test("one interval after the newest, whoever made that", () => {
    expect(at({ newestAt: -2 * HOUR })).toBe(22 * HOUR);
    expect(at({ newestAt: 5 * HOUR, last: { at: 1 * HOUR, failure: null } })).toBe(29 * HOUR);
  });
  test("within the hour after a failure", () => {
    expect(at({ last: { at: 7 * HOUR, failure: "no room" }, newestAt: 0 })).toBe(8 * HOUR);
    expect(dueAt(10 * MINUTE, { startedAt: 0, last: { at: 0, failure: "no room" }, newestAt: null })).toBe(10 * MINUTE);
  });
});

async function world(
  create: (options: CreateOptions, no: number) => Promise<void>,
  every: number | null = 30 * MINUTE,
) {
  const home = await tempHome();
  const clock = createFakeClock(Date.parse("2026-03-01T00:00:00Z"));
  const told: string[] = [];
  let made = 0;
  const settings: { every?: number; keep: number } = { ...(every === null ? {} : { every }), keep: 2 };
  const folder = join(home.path, "backups");
  const backups = createBackups(
    {
      clock,
      ids: createSeqIds(),
      log: recordingLog(),
      settings: () => settings,
      config: () => null,
      tellOwner: async (_id, text) => void told.push(text),
      async create(options) {
        await create(options, ++made);
        const file = join(folder, backupName(clock.now(), false));
        await mkdir(folder, { recursive: true });
        await writeFile(file, "a backup");
        return { file, bytes: 8, manifest: { format: 1, version: "", createdAt: "", home: "", files: [], gone: [] } };
      },
    },
    { home: home.path, userHome: home.path, version: "1" },
  );
  const running = backups.start();
  return {
    backups,
    told,
    folder,
    settings,
    made: () => made,
    /** Minute by minute, each time until the schedule sleeps again. */
    async advance(ms: number) {
      for (let left = ms; left > 0; left -= MINUTE) {
        await clock.advance(Math.min(left, MINUTE));
        await waitFor("the schedule to sleep", clock.pending, (pending) => pending > 0);
      }
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      expect(clock.pending()).toBe(0);
      await home[Symbol.asyncDispose]();
    },
  };
}

describe("backups by the clock", () => {
  test("are made when one is due, and the oldest are deleted", async () => {
    await using it = await world(async () => undefined);
    await mkdir(it.folder, { recursive: true });
    await writeFile(join(it.folder, "something-else.tar.gz"), "");
    await writeFile(join(it.folder, backupName(Date.parse("2026-02-01T00:00:00Z"), true)), "");
    await it.advance(2 * MINUTE);
    expect(it.made()).toBe(1);
    await it.advance(31 * MINUTE);
    expect(it.made()).toBe(2);
    expect((await readdir(it.folder)).toSorted()).toEqual([
      "pi-gateway-20260301T000100Z.tar.gz",
      "pi-gateway-20260301T003100Z.tar.gz",
      "something-else.tar.gz",
    ]);
    expect(it.backups.notices()).toEqual([]);
    expect(it.backups.report()).toMatchObject({ newestAt: Date.parse("2026-03-01T00:31:00Z"), failure: null });
  });

  test("tell the owner of a failure once, stand in the notices until one succeeds, and are tried again", async () => {
    await using it = await world(async (_options, no) => {
      if (no < 3) throw new GatewayError("store_failed", "no room", { say: "There is no room." });
    });
    await it.advance(2 * MINUTE);
    expect(it.backups.notices()).toEqual([
      "The last backup failed: There is no room. It is tried again within the hour.",
    ]);
    await it.advance(31 * MINUTE);
    expect({ made: it.made(), told: it.told.length }).toEqual({ made: 2, told: 1 });
    await it.advance(31 * MINUTE);
    expect({ made: it.made(), notices: it.backups.notices() }).toEqual({ made: 3, notices: [] });
  });

  test("are made at once when somebody asks, also where none is made by the clock, and who asks meanwhile gets the same one", async () => {
    const first = Promise.withResolvers<void>();
    await using it = await world(async (_options, no) => {
      if (no === 1) await first.promise;
      if (no === 2) throw new GatewayError("store_failed", "no room", { say: "There is no room." });
    }, null);
    const asked = [it.backups.makeNow(), it.backups.makeNow()];
    first.resolve();
    expect(await Promise.all(asked)).toEqual([null, null]);
    expect({ made: it.made(), files: (await readdir(it.folder)).length }).toEqual({ made: 1, files: 1 });
    expect(await it.backups.makeNow()).toBe("There is no room.");
    expect(await it.backups.makeNow()).toBeNull();
    expect([it.made(), it.backups.report().failure]).toEqual([3, null]);
  });

  test("that somebody asked for end before the gateway has stopped", async () => {
    const left = Promise.withResolvers<void>();
    const it = await world(() => left.promise, null);
    const asked = it.backups.makeNow();
    let isStopped = false;
    const stopping = it[Symbol.asyncDispose]().then(() => (isStopped = true));
    await Bun.sleep(0);
    expect(isStopped).toBe(false);
    left.resolve();
    await Promise.all([asked, stopping]);
  });

  test("are made only while the settings ask for them", async () => {
    await using it = await world(async () => undefined, null);
    await it.advance(5 * MINUTE);
    expect(it.made()).toBe(0);
    it.settings.every = HOUR;
    await it.advance(2 * MINUTE);
    expect(it.made()).toBe(1);
  });
});
