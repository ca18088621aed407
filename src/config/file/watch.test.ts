/** Watching a real file: rename-over, vanishing and coming back, and quiet for everything else. */
import { expect, test } from "bun:test";
import { mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { debounced } from "../../kit/debounce.ts";
import { deferred } from "../../kit/deferred.ts";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { watchConfig } from "../index.ts";

/** Waits are over at the next turn of the event loop, so that a test waits for the file system and for nothing else. */
const hasty: Clock = { ...systemClock, sleep: () => new Promise((resolve) => setImmediate(resolve)) };

function changes() {
  let seen = deferred<void>();
  return {
    onChange: () => seen.resolve(),
    async next() {
      await waitForEnd("a change of the file", seen.promise);
      seen = deferred<void>();
    },
  };
}

test("a file renamed over the configuration is seen, and so is one written in place", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  await writeFile(path, "{}");
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await writeFile(join(folder.path, "new"), '{"queue": {}}');
  await rename(join(folder.path, "new"), path);
  await next();
  await writeFile(path, "{}");
  await next();
});

test("a file that vanishes and comes back is seen again", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  await writeFile(path, "{}");
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await rm(path);
  await next();
  await writeFile(path, "{}");
  await next();
});

test("a folder that vanishes with the file, and comes back with it, is seen both times", async () => {
  await using folder = await tempHome();
  const home = join(folder.path, "home");
  const path = join(home, "pi-gateway.jsonc");
  await mkdir(home);
  await writeFile(path, "{}");
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await rm(home, { recursive: true });
  await next();
  await mkdir(home);
  await writeFile(path, "{}");
  await next();
});

test("a file that is not there yet is seen when it comes", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await writeFile(path, "{}");
  await next();
});

test("a change behind a link is seen", async () => {
  await using folder = await tempHome();
  await mkdir(join(folder.path, "home"));
  await mkdir(join(folder.path, "dotfiles"));
  const real = join(folder.path, "dotfiles", "mine.jsonc");
  const path = join(folder.path, "home", "pi-gateway.jsonc");
  await writeFile(real, "{}");
  await symlink(real, path);
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await writeFile(real, '{"queue": {}}');
  await next();
});

test("a link that is pointed elsewhere is seen, as mounted configuration does it", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  for (const version of ["one", "two"]) {
    await mkdir(join(folder.path, version));
    await writeFile(join(folder.path, version, "pi-gateway.jsonc"), "{}");
  }
  await symlink("one", join(folder.path, "..data"));
  await symlink("..data/pi-gateway.jsonc", path);
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, onChange);
  await symlink("two", join(folder.path, "..new"));
  await rename(join(folder.path, "..new"), join(folder.path, "..data"));
  await next();
});

test("a write to another file in the folder is not a change", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  const other = join(folder.path, "gateway.db");
  let count = 0;
  const { onChange, next } = changes();
  await using _watch = watchConfig({ clock: hasty, log: silentLog }, path, () => count++);
  await using _otherWatch = watchConfig({ clock: hasty, log: silentLog }, other, onChange);
  await writeFile(other, "x");
  await next();
  expect(count).toBe(0);
});

test("many touches become one change, 200 ms after the last", async () => {
  const clock = createFakeClock();
  let count = 0;
  const touch = debounced(clock, 200, () => void count++, new AbortController().signal);
  touch();
  await clock.advance(150);
  touch();
  touch();
  await clock.advance(199);
  expect(count).toBe(0);
  await clock.advance(1);
  expect(count).toBe(1);
  await clock.advance(10_000);
  expect([count, clock.pending()]).toEqual([1, 0]);
});

test("a change that cannot be handled is logged, and does not end the watch", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  await writeFile(path, "{}");
  const log = recordingLog();
  const fail = () => {
    throw new Error("no");
  };
  await using _watch = watchConfig({ clock: hasty, log }, path, fail);
  for (const [times, text] of [" {}", "  {}"].entries()) {
    await writeFile(path, text);
    await waitFor("a line in the log", () => log.lines.length > times);
  }
  expect(log.lines[0]?.words).toBe("configuration change could not be handled");
});

test("the watcher looks twice a second, and nothing is reported after the watch has ended", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  await writeFile(path, "{}");
  const clock = createFakeClock();
  let count = 0;
  const watching = watchConfig({ clock, log: silentLog }, path, () => count++);
  await writeFile(path, "{} ");
  await clock.advance(499);
  await clock.advance(200); // seen at 500, told 200 later
  expect(count).toBe(0);
  await clock.advance(1);
  expect(count).toBe(1);
  await writeFile(path, "{}");
  await clock.advance(300); // seen at 1,000, and not told any more
  await waitForEnd("the end of the watch", Promise.resolve(watching[Symbol.asyncDispose]()));
  await clock.advance(10_000);
  expect([count, clock.pending()]).toEqual([1, 0]);
});

test("a file put in the place of another is seen, even when its size and time are the same", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  const next = join(folder.path, "next");
  const at = new Date(1_700_000_000_000);
  await writeFile(path, '{"a": 1}');
  await writeFile(next, '{"a": 2}');
  for (const file of [path, next]) await utimes(file, at, at);
  const clock = createFakeClock();
  let count = 0;
  await using _watch = watchConfig({ clock, log: silentLog }, path, () => count++);
  await rename(next, path);
  await clock.advance(700);
  expect(count).toBe(1);
  await clock.advance(10_000);
  expect(count).toBe(1); // one change is told once
});

test("a file that is changed in its place is seen, even when its size and its time are set to what they were", async () => {
  await using folder = await tempHome();
  const path = join(folder.path, "pi-gateway.jsonc");
  const at = new Date(1_700_000_000_000);
  await writeFile(path, '{"a": 1}');
  await utimes(path, at, at);
  const clock = createFakeClock();
  let count = 0;
  await using _watch = watchConfig({ clock, log: silentLog }, path, () => count++);
  await writeFile(path, '{"a": 2}');
  await utimes(path, at, at);
  await clock.advance(700);
  expect(count).toBe(1);
});
