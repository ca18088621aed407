import { expect, test } from "bun:test";
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import { countFiles, hasFallen, nearlyFull } from "./disk-meter.ts";

const MB = 1024 * 1024;
const LIMITS = { workspaceMb: 4, workspaceFiles: 10, freeDiskMb: 500 };
const free = (mb: number, files = 1_000_000) => ({ bytes: mb * MB, files });

test.each([
  ["much is left", free(600), free(900), false],
  ["less is left than should be, and the turn wrote", free(400), free(900), true],
  ["less was left before, and the turn wrote nothing", free(400), free(400), false],
  ["the turn made room", free(400), free(300), false],
  ["hardly a name is left", free(600, 100), free(600, 9_000), true],
  ["the file system counts no files", free(600, Infinity), free(600, Infinity), false],
])("a turn is stopped for the disk's sake, or not: %s", (_what, now, atStart, expected) => {
  expect(nearlyFull(now, atStart, LIMITS)).toBe(expected);
});

test.each([
  [free(100), free(131), false],
  [free(100), free(132), true],
  [free(100, 5_000), free(100, 15_000), true],
  [free(200), free(100), false],
])("files are counted again only when much less is free: %j after %j: %p", (now, before, expected) => {
  expect(hasFallen(now, before)).toBe(expected);
});

test("the space of files is counted once for each, without holes and without following links, in all folders together", async () => {
  await using home = await tempHome();
  const [one, two] = ["one", "two"].map((name) => join(home.path, name)) as [string, string];
  for (const folder of [one, join(one, "below"), two]) mkdirSync(folder);
  writeFileSync(join(one, "a"), new Uint8Array(MB));
  writeFileSync(join(one, "below", "b"), new Uint8Array(MB));
  linkSync(join(one, "a"), join(two, "the same"));
  symlinkSync("/usr", join(two, "elsewhere"));
  writeFileSync(join(two, "hole"), "");
  truncateSync(join(two, "hole"), 100 * MB);
  const { bytes, files, tooMuch } = await countFiles([one, two, join(home.path, "gone")], LIMITS);
  expect([Math.round(bytes / MB), files, tooMuch]).toEqual([2, 6, false]);
});

test("files that are too many or too large are noticed without counting them all", async () => {
  await using home = await tempHome();
  for (let n = 0; n < 40; n++) writeFileSync(join(home.path, String(n)), "x");
  expect(await countFiles([home.path], LIMITS)).toMatchObject({ files: 11, tooMuch: true });
  expect(await countFiles([home.path], { ...LIMITS, workspaceFiles: 100 })).toMatchObject({
    files: 40,
    tooMuch: false,
  });
  expect(await countFiles([home.path], { ...LIMITS, workspaceFiles: 100, workspaceMb: 0 })).toMatchObject({
    tooMuch: true,
  });
});
