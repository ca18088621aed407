import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { watchLocks } from "./dead-locks.ts";
import { childNotes, killOrphans } from "./orphans.ts";
import { identify } from "./proc.ts";

const deps = { clock: createFakeClock(), log: silentLog };
const PLACES = ["agent", "agents/bo", "roles/guest/default", "agent/providers/fake"];

async function withLocks(run: (home: string, locks: readonly string[]) => Promise<void>): Promise<void> {
  await using home = await tempHome();
  const locks = PLACES.map((place) => join(home.path, place, "auth.json.lock"));
  for (const lock of locks) mkdirSync(lock, { recursive: true });
  await run(home.path, locks);
}

test("a file that a killed agent had locked is free for the agents of the next process, and nothing else is touched", () =>
  withLocks(async (home, locks) => {
    const kept = [join(home, "agent", "auth.json"), join(home, "agent", "home", "mine.json.lock")];
    mkdirSync(join(home, "agent", "home"));
    for (const file of kept) writeFileSync(file, "{}");
    await killOrphans(deps, home);
    expect([locks.filter(existsSync), kept.filter(existsSync)]).toEqual([[], kept]);
  }));

test("while an agent runs its locks are its own", () =>
  withLocks(async (home, locks) => {
    const me = identify(process.pid);
    if (!me) throw new Error("this process is not known to the system");
    childNotes(home).write(me, "process_1");
    await killOrphans(deps, home);
    expect(locks.filter(existsSync)).toEqual([...locks]);
  }));

test("before a start nobody's locks are left, unless an agent runs", () =>
  withLocks(async (home, locks) => {
    const me = identify(process.pid);
    if (!me) throw new Error("this process is not known to the system");
    const notes = childNotes(home);
    notes.write(me, "process_1");
    expect([notes.freeLocks(), locks.filter(existsSync).length]).toEqual([0, locks.length]);
    notes.remove(me.pid);
    expect([notes.freeLocks(), locks.filter(existsSync).length]).toEqual([locks.length, 0]);
  }));

describe("while another agent runs", () => {
  const HELD_MS = 1_000;

  async function watching(run: (at: { lock: string; folder: string; look(): Promise<void> }) => Promise<void>) {
    await using home = await tempHome();
    const clock = createFakeClock();
    const lock = join(home.path, "auth.json.lock");
    mkdirSync(lock);
    using _watch = watchLocks({ clock, log: silentLog }, { folder: home.path, heldMs: HELD_MS });
    await run({ lock, folder: home.path, look: () => clock.advance(HELD_MS) });
  }

  test("a lock that nobody gives back is dropped, not before its time", () =>
    watching(async ({ lock, look }) => {
      expect(existsSync(lock)).toBe(true);
      await look();
      expect(existsSync(lock)).toBe(false);
    }));

  test("one that was given back and taken again is somebody's, until it stays as well", () =>
    watching(async ({ lock, look }) => {
      rmdirSync(lock);
      mkdirSync(lock);
      utimesSync(lock, 1, 1);
      await look();
      expect(existsSync(lock)).toBe(true);
      await look();
      expect(existsSync(lock)).toBe(false);
    }));

  test("one that appears later is watched from then on", () =>
    watching(async ({ lock, look }) => {
      rmdirSync(lock);
      await look();
      mkdirSync(lock);
      await look();
      expect(existsSync(lock)).toBe(true);
      await look();
      expect(existsSync(lock)).toBe(false);
    }));

  test("where somebody has logged in, renewing that may take long, and every lock is left to pi", () =>
    watching(async ({ lock, folder, look }) => {
      writeFileSync(join(folder, "auth.json"), JSON.stringify({ anthropic: { type: "oauth" } }));
      await look();
      expect(existsSync(lock)).toBe(true);
    }));
});

test("once the start is over nothing is watched any longer", async () => {
  await using home = await tempHome();
  const clock = createFakeClock();
  watchLocks({ clock, log: silentLog }, { folder: home.path, heldMs: 1 })[Symbol.dispose]();
  await Promise.resolve();
  expect(clock.pending()).toBe(0);
});
