/** What was opened decides: links, second names, devices, other people's files and races, on a real file system. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { link, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TempHome, tempHome } from "../testing/temp-home.ts";
import { openAgentFile, type OpenLimits, readUpTo } from "./open-agent-file.ts";

const SECRET = "the gateway's secret";
const NEVER = new AbortController().signal;
let home: TempHome;
let root: string;
let limits: OpenLimits;

const look = async (path: string, more: Partial<OpenLimits> = {}) => {
  const file = await openAgentFile(path, { ...limits, ...more }, NEVER);
  return file.ok ? new TextDecoder().decode(file.data) : file.because;
};

beforeAll(async () => {
  home = await tempHome();
  const path = await realpath(home.path);
  root = join(path, "space");
  limits = { base: root, roots: [root], maxBytes: 1_000_000, uid: process.getuid?.() ?? 0 };
  await mkdir(join(root, "in"), { recursive: true });
  await mkdir(join(path, "outside"));
  await writeFile(join(path, "outside", "hidden.txt"), SECRET);
  await writeFile(join(root, "in", "plain.txt"), "hello");
  await writeFile(join(root, "empty.txt"), "");
  await writeFile(join(root, "large.bin"), new Uint8Array(2_000));
  await symlink(join(path, "outside", "hidden.txt"), join(root, "leaf.txt"));
  await symlink(join(path, "outside"), join(root, "parent"));
  await symlink(join(root, "in"), join(root, "inner"));
  await symlink(join(root, "in", "plain.txt"), join(root, "inner-leaf.txt"));
  await symlink("/proc/self/environ", join(root, "environ"));
  await writeFile(join(path, "outside", "twice.txt"), SECRET);
  await link(join(path, "outside", "twice.txt"), join(root, "second-name.txt"));
  execFileSync("mkfifo", [join(root, "pipe")]);
});
afterAll(() => home[Symbol.asyncDispose]());

describe("a file an agent names", () => {
  test("is read when it is a plain file below its root", async () => {
    expect(await look("in/plain.txt")).toBe("hello");
    expect(await look(join(root, "in/plain.txt"))).toBe("hello");
  });

  test.each([
    ["leaf.txt", "a link to a file outside"],
    ["parent/hidden.txt", "a file behind a linked folder"],
    ["inner/plain.txt", "a file behind a link that stays inside"],
    ["inner-leaf.txt", "a link to a file inside"],
    ["environ", "a link into /proc"],
    ["second-name.txt", "a second name of a file outside"],
    ["pipe", "a pipe, without waiting for its other end"],
    ["in", "a folder"],
    ["in/plain.txt/x", "something below a file"],
  ])("%s is refused: %s", async (path) => {
    expect(await look(path)).toContain("not a plain file");
  });

  test("is refused with the reason when its path alone is wrong, and when the agent has no folder", async () => {
    expect(await look("../outside/hidden.txt")).toBe("The path must not contain `..`.");
    expect(await look("in/plain.txt", { base: null, roots: [] })).toBe("This agent has no folder to send files from.");
    expect(await openAgentFile(".env", limits, NEVER)).toMatchObject({ ok: false, about: null });
  });

  test("is refused when the way to its root leads through a link after all", async () => {
    const path = join(home.path, "way");
    await symlink(join(root, ".."), path);
    const swapped = join(path, "space");
    expect(await look("in/plain.txt", { base: swapped, roots: [swapped] })).toContain("not a plain file");
  });

  test("that is not there, is empty or too large is refused with a reason", async () => {
    expect(await look("in/nothing.txt")).toBe("There is no such file.");
    expect(await look("empty.txt")).toBe("The file is empty.");
    expect(await look("large.bin", { maxBytes: 1_999 })).toContain("larger than");
    expect(await look(`${"x".repeat(300)}.txt`)).toBe("The path is too long.");
  });

  test("that grows while it is read is given up at the limit, not read to its end", async () => {
    const chunk = 256 * 1024;
    let reads = 0;
    const growing = {
      async read() {
        if (++reads > 10) throw new Error("it was read past its limit");
        return { bytesRead: chunk, buffer: new Uint8Array(chunk) };
      },
    };
    expect(await readUpTo(growing as never, 3 * chunk)).toBeNull();
    expect(reads).toBe(4);
  });

  test("of exactly the size that is allowed is read whole", async () => {
    expect((await look("large.bin", { maxBytes: 2_000 })).length).toBe(2_000);
  });

  test("that usually holds secrets is refused before it is opened, for everybody", async () => {
    for (const path of [".env", "in/.git/config", "in/id_rsa", join(root, ".env")])
      expect(await look(path)).toContain("never sent"); // none of them is there: the name alone decides
  });

  test("of another user is refused", async () => {
    expect(await look("in/plain.txt", { uid: limits.uid + 1 })).toContain("not a plain file");
  });

  test("in a root that became a link after the start is refused", async () => {
    const moved = join(home.path, "moved");
    await symlink(join(home.path, "outside"), moved);
    expect(await look(join(moved, "hidden.txt"), { base: moved, roots: [moved] })).toContain("not a plain file");
  });

  // Another process swaps the file, or its folder, for a link to the secret and back, as fast as it can.
  test.each(["leaf", "parent"])("never gives away a file outside while its %s is being swapped", async (what) => {
    if (!existsSync("/proc/self/fd")) return;
    const place = join(root, `race-${what}`);
    await mkdir(place);
    await mkdir(join(place, "folder"));
    await writeFile(join(place, "folder", "hidden.txt"), "fine");
    const swapped = what === "leaf" ? join(place, "folder", "hidden.txt") : join(place, "folder");
    const target = what === "leaf" ? join(home.path, "outside", "hidden.txt") : join(home.path, "outside");
    const script = `const fs = require("node:fs");
      fs.symlinkSync(${JSON.stringify(target)}, ${JSON.stringify(`${place}/link`)});
      process.stdout.write("ready\\n");
      for (let n = 0; ; n++) {
        fs.renameSync(${JSON.stringify(swapped)}, ${JSON.stringify(`${place}/aside`)});
        fs.renameSync(${JSON.stringify(`${place}/link`)}, ${JSON.stringify(swapped)});
        fs.renameSync(${JSON.stringify(swapped)}, ${JSON.stringify(`${place}/link`)});
        fs.renameSync(${JSON.stringify(`${place}/aside`)}, ${JSON.stringify(swapped)});
      }`;
    await using child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    await child.stdout.getReader().read();
    const seen = new Map<string, number>();
    for (let round = 0; round < 4_000; round++) {
      const said = await look(`race-${what}/folder/hidden.txt`);
      seen.set(said, (seen.get(said) ?? 0) + 1);
    }
    child.kill("SIGKILL");
    await child.exited;
    expect([...seen.keys()].filter((said) => said.includes(SECRET))).toEqual([]);
    expect(seen.get("fine") ?? 0).toBeGreaterThan(0); // the race was a race: sometimes the right file was there …
    expect(seen.size).toBeGreaterThan(1); // … and sometimes not
  });
});
