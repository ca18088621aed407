/** Files of old runs: they go after their rows, and what a crash left is taken away later. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeSession } from "../../agents/index.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { RunSessionStore } from "../../contracts/store/run-sessions.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { pruneRunSessions } from "./prune-sessions.ts";
import { advanceUntil } from "../../testing/wait-for.ts";

const NEVER = new AbortController().signal;

/** `old` sessions, the last 150 of which can go, and the file of one that a crash left. */
function played(old: number) {
  const dead = new Set(["left-by-a-crash.jsonl"]);
  const asked: number[] = [];
  const runSessions: RunSessionStore = {
    async drop({ before, limit, from }) {
      asked.push(before);
      const first = from ? from.at + 1 : 0;
      const last = Math.min(first + limit, old) - 1;
      const going = Array.from({ length: last - first + 1 }, (_, n) => first + n).filter((n) => n >= old - 150);
      for (const n of going) dead.add(`session-${n}.jsonl`);
      const more = last - first + 1 === limit;
      return { dropped: going.length, next: more ? { at: last, key: `s-${last}` as SessionKey } : null };
    },
    deadFiles: async (limit) => [...dead].slice(0, limit),
    fileGone: async (file) => void dead.delete(file),
  };
  return { runSessions, dead, asked };
}

test("every file whose session is gone is taken away, and no other", async () => {
  await using home = await tempHome();
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const { runSessions, dead, asked } = played(1_300);
  mkdirSync(join(home.path, "sessions"));
  const removeFile = (name: string) => removeSession(home.path, name);
  const fileOf = (name: string): string => join(home.path, "sessions", name);
  const names = ["left-by-a-crash.jsonl", "session-1150.jsonl", "session-1299.jsonl", "session-1149.jsonl"];
  for (const name of names) writeFileSync(fileOf(name), "{}\n");
  const pruning = pruneRunSessions({ clock, log: recordingLog(), runSessions, removeFile }, NEVER);
  let over = false;
  void pruning.finally(() => (over = true));
  await advanceUntil({ clock, stepMs: 1_000 }, "the end of the deletion", () => over);
  await pruning;
  expect([names.filter((name) => existsSync(fileOf(name))), dead.size]).toEqual([["session-1149.jsonl"], 0]);
  expect(asked[0]).toBe(Date.UTC(2026, 4, 25));
});

test("a file that cannot be removed now is removed later: it is noted as gone after it is, and not before", async () => {
  const clock = createFakeClock();
  const { runSessions, dead } = played(0);
  const deps = { clock, log: recordingLog(), runSessions };
  const failing = pruneRunSessions({ ...deps, removeFile: () => Promise.reject(new Error("busy")) }, NEVER);
  await expect(failing).rejects.toThrow("busy");
  expect([...dead]).toEqual(["left-by-a-crash.jsonl"]);
  await pruneRunSessions({ ...deps, removeFile: async () => undefined }, NEVER);
  expect(dead.size).toBe(0);
});
