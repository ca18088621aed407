/** Copies of session files that another gateway has deleted. */
import { expect, test } from "bun:test";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { removeSessionCopies } from "./session-copies.ts";

const BEFORE = 1_000_000;

test("session files without a row go when they are old, with their damaged ones, and no others", async () => {
  await using home = await tempHome();
  const folder = join(home.path, "sessions");
  const visit = join(home.path, "run", "sessions", "1-2-process");
  await mkdir(folder, { recursive: true });
  await mkdir(visit, { recursive: true });
  const write = async (name: string, changedAt = 0) => {
    await writeFile(join(folder, name), "x");
    await utimes(join(folder, name), changedAt / 1_000, changedAt / 1_000);
  };
  for (const name of ["session-gone.jsonl", "session-gone.jsonl.damaged-1", "session-kept.jsonl"]) await write(name);
  for (const name of ["delegate-turn-1.jsonl", "which-models.jsonl", "notes.txt"]) await write(name);
  await write("session-young.jsonl", BEFORE);
  await write("session-busy.jsonl.damaged-1");
  await writeFile(join(visit, "session-busy.jsonl"), "x");
  const asked: string[] = [];
  const unknownOf = async (names: readonly string[]) => {
    asked.push(...names);
    return names.filter((name) => name !== "session-kept.jsonl");
  };
  expect(await removeSessionCopies(home.path, BEFORE, { unknownOf })).toBe(1);
  expect(asked.toSorted()).toEqual(["session-busy.jsonl", "session-gone.jsonl", "session-kept.jsonl"]);
  expect((await readdir(folder)).toSorted()).toEqual([
    "delegate-turn-1.jsonl",
    "notes.txt",
    "session-busy.jsonl.damaged-1",
    "session-kept.jsonl",
    "session-young.jsonl",
    "which-models.jsonl",
  ]);
});

test("a gateway that never had a session has no copies", async () => {
  await using home = await tempHome();
  expect(await removeSessionCopies(home.path, BEFORE, { unknownOf: async (names) => names })).toBe(0);
});
