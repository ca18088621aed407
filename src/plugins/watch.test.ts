/** The watch over plugin folders: one change is told once, a folder that comes is a change, and nothing is told after the end. */
import { expect, test } from "bun:test";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "../testing/fake-clock.ts";
import { tempHome } from "../testing/temp-home.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { watchFolders } from "./watch.ts";

async function world(folder = "plugins") {
  const home = await tempHome();
  const clock = createFakeClock();
  const path = join(home.path, folder);
  let changes = 0;
  const start = () => watchFolders({ clock }, [path], () => void changes++);
  return { home, clock, path, start, changes: () => changes, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

type World = Awaited<ReturnType<typeof world>>;

/** The system tells of a change by a timer of our own: waits for that timer. */
const touched = ({ clock }: World, timers = 1) => waitFor("the change is seen", () => clock.pending() >= timers);

test("plugin watch: many steps of one copy are one change, told when it has been quiet for a moment", async () => {
  await using at = await world();
  await mkdir(at.path);
  const watching = at.start();
  for (const name of ["a", "b", "c"]) await writeFile(join(at.path, name), name);
  await touched(at);
  await at.clock.advance(119);
  expect(at.changes()).toBe(0);
  await waitFor("it is told", async () => (await at.clock.advance(200), at.changes() > 0));
  expect(at.changes()).toBeLessThan(3);
  await waitForEnd("the stop", Promise.resolve(watching[Symbol.asyncDispose]()));
});

test("plugin watch: a folder that is not there at first is a change when it comes, and is watched from then on", async () => {
  await using at = await world();
  const watching = at.start();
  await at.clock.advance(5_000);
  expect(at.changes()).toBe(0);
  await mkdir(at.path);
  await at.clock.advance(1_000);
  await at.clock.advance(120);
  expect(at.changes()).toBe(1);
  expect(at.clock.pending()).toBe(0); // it does not look for it again
  await writeFile(join(at.path, "a"), "a");
  await touched(at);
  await waitFor("it is told", async () => (await at.clock.advance(200), at.changes() > 1));
  await waitForEnd("the stop", Promise.resolve(watching[Symbol.asyncDispose]()));
});

test("plugin watch: a folder that is replaced by another one is watched in its new form", async () => {
  await using at = await world();
  await mkdir(at.path);
  const watching = at.start();
  await rm(at.path, { recursive: true });
  await waitFor("it is told", async () => (await at.clock.advance(200), at.changes() > 0));
  await mkdir(join(at.home.path, "next"));
  await rename(join(at.home.path, "next"), at.path);
  await at.clock.advance(1_000);
  await at.clock.advance(120);
  const told = at.changes();
  await writeFile(join(at.path, "a"), "a");
  await waitFor("the new one is watched", async () => (await at.clock.advance(200), at.changes() > told));
  await waitForEnd("the stop", Promise.resolve(watching[Symbol.asyncDispose]()));
});

test("plugin watch: a folder that is touched again and again is told once, with one timer, when it rests", async () => {
  await using at = await world();
  const watching = at.start();
  let folders = 0;
  const comes = async (): Promise<void> => {
    await mkdir(at.path);
    await at.clock.advance(1_000); // it is found
    folders++;
    await rm(at.path, { recursive: true });
    await waitFor("its end is seen", () => at.clock.pending() >= 2);
  };
  await comes();
  await comes();
  expect([folders, at.clock.pending()]).toEqual([2, 2]); // one looks for the folder, one waits for quiet
  await waitForEnd("the stop", Promise.resolve(watching[Symbol.asyncDispose]()));
  expect(at.clock.pending()).toBe(0);
});

test("plugin watch: an end in the moment in which a change is to be told tells nothing more", async () => {
  await using at = await world();
  const sleeps: (() => void)[] = [];
  const clock = { ...at.clock, sleep: () => new Promise<void>((resolve) => void sleeps.push(resolve)) };
  let changes = 0;
  const watching = watchFolders({ clock }, [at.path], () => void changes++);
  await mkdir(at.path);
  sleeps[0]?.(); // it looks for the folder, and finds it
  await waitFor("the change is seen", () => sleeps.length > 1);
  for (const quiet of sleeps) quiet();
  const stop = watching[Symbol.asyncDispose]();
  await waitForEnd("the stop", Promise.resolve(stop));
  expect(changes).toBe(0);
});

test.each(["waits until it is quiet", "waits for a folder that is not there"])(
  "plugin watch: an end while it %s tells nothing more and leaves no timer",
  async (where) => {
    await using at = await world();
    if (where === "waits until it is quiet") await mkdir(at.path);
    const watching = at.start();
    if (where === "waits until it is quiet") await writeFile(join(at.path, "a"), "a");
    await touched(at);
    await waitForEnd("the stop", Promise.resolve(watching[Symbol.asyncDispose]()));
    await at.clock.advance(10_000);
    expect([at.changes(), at.clock.pending()]).toEqual([0, 0]);
  },
);
