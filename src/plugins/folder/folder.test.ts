/** Where plugins are looked for, what of a folder is read, and the limits of both. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { chown, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { checkPluginConfig } from "./check-config.ts";
import { discoverPlugins, pluginRoots } from "./discover.ts";
import { readFolder } from "./read-folder.ts";

const me = process.getuid?.() ?? null;
const ABOUT = { version: "1.0.0", main: "index.ts", gateway: "*" };

async function put(folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const id = folder.split("/").at(-1);
  const files = { "plugin.json": JSON.stringify({ id, ...ABOUT }), "index.ts": "", ...more };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), text, { mode: 0o600 });
  }
}

const config = (over: Partial<Config["plugins"]> = {}): Config["plugins"] => ({
  dirs: [],
  enabled: [],
  disabled: [],
  pins: {},
  config: {},
  ...over,
});
const options = (home: string) => ({ home, version: "1.0.0", owner: me, userHome: "/home/frida", agentFolders: [] });

describe("plugin folders: places", () => {
  test("of the settings may begin at the user's home, and each is looked at once", () => {
    const dirs = ["~", "~/more", "/opt/plugins", "/opt/plugins", "~other"];
    const roots = pluginRoots({ dirs }, { home: "/state", userHome: "/home/frida" });
    expect(roots.slice(0, 4)).toEqual(["/state/plugins", "/home/frida", "/home/frida/more", "/opt/plugins"]);
    expect(roots[4]?.endsWith("/~other")).toBe(true);
    expect(roots).toHaveLength(5);
  });

  test("may be a folder of plugins or one plugin; links and files are not plugins", async () => {
    await using home = await tempHome();
    await put(join(home.path, "more/one"));
    await put(join(home.path, "alone"));
    await symlink(join(home.path, "alone"), join(home.path, "more/linked"));
    await writeFile(join(home.path, "more/file"), "");
    const dirs = [join(home.path, "more"), join(home.path, "alone"), join(home.path, "absent")];
    expect(discoverPlugins(config({ dirs }), options(home.path)).map(({ id }) => id)).toEqual(["one", "alone"]);
  });

  test("give so many plugins, and no more", async () => {
    await using home = await tempHome();
    for (let n = 0; n < 205; n++) {
      await mkdir(join(home.path, "plugins", `p${n}`), { recursive: true });
      await writeFile(join(home.path, "plugins", `p${n}`, "plugin.json"), "{}");
    }
    expect(discoverPlugins(config(), options(home.path))).toHaveLength(200);
  });

  test("without a plugin that is enabled are told, unless it is disabled as well", async () => {
    await using home = await tempHome();
    const found = discoverPlugins(config({ enabled: ["absent", "off"], disabled: ["off"] }), options(home.path));
    expect(found.map(({ id, kind }) => `${id} ${kind}`)).toEqual(["absent refused"]);
  });
});

test("plugin settings: a wrong one with an endless name is told in a short sentence", () => {
  const schema = { type: "object", additionalProperties: { type: "string" } };
  const checked = checkPluginConfig({ id: "one", config: schema }, { ["x".repeat(1_000)]: 1 });
  expect(checked.ok ? "" : checked.why).toBe(`plugins.config.one."${"x".repeat(64)}…" is 1; it must be text.`);
});

describe("plugin folders: files", () => {
  test("are read with their paths, but for histories and links to programs", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await put(folder, { "lib/deep/a.ts": "a", ".git/config": "x", "node_modules/.bin/tool": "x" });
    const read = readFolder(folder, me);
    expect(read.ok ? [...read.files.keys()] : read.why).toEqual(["index.ts", "lib/deep/a.ts", "plugin.json"]);
  });

  test("that belong to another user of the machine are refused", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await put(folder);
    if (me === 0) await chown(join(folder, "index.ts"), 12_345, 12_345);
    const owner = me === 0 || me === null ? me : me + 1;
    expect(readFolder(folder, owner)).toMatchObject(
      owner === null ? { ok: true } : { ok: false, why: expect.stringContaining("belongs to another user") },
    );
  });

  test.each([
    [0, true],
    [1, false],
  ])("of 32 MiB and %d bytes are read: %p", async (more, ok) => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await put(folder);
    const read = readFolder(folder, me);
    const there = read.ok ? [...read.files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0) : 0;
    await writeFile(join(folder, "data"), "", { mode: 0o600 });
    await truncate(join(folder, "data"), 32 * 1024 * 1024 - there + more); // a file of holes: nothing is written
    expect(readFolder(folder, me)).toMatchObject(ok ? { ok } : { ok, why: "It is larger than 32 MiB." });
  });

  test.each([
    [16, true],
    [17, false],
  ])("in %d folders inside each other are read: %p", async (depth, ok) => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await put(folder, { [`${"d/".repeat(depth)}a.ts`]: "a" });
    expect(readFolder(folder, me)).toMatchObject(ok ? { ok } : { ok, why: "It is nested deeper than 16 folders." });
  });

  test.each([
    [2_000, true],
    [2_001, false],
  ])("are read when there are %d of them: %p", async (count, ok) => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await put(folder);
    for (let file = 2; file < count; file++) writeFileSync(join(folder, `${file}.txt`), "", { mode: 0o600 });
    expect(readFolder(folder, me)).toMatchObject(ok ? { ok } : { ok, why: "It has more than 2000 files." });
  });

  test("of a folder that is not there are refused with the reason of the system", () => {
    expect(readFolder("/nowhere/at/all", me)).toMatchObject({ ok: false, why: expect.stringContaining("ENOENT") });
  });
});
