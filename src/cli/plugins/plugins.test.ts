/** `pi-gw plugins` by itself: what is written where, and how the plugins of a running gateway are shown. */
import { describe, expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";
import type { CliWorld } from "../world.ts";

const nothing = { tools: [], commands: [], hooks: [], routes: [], services: [], skills: [], channels: [] };
const ITEMS = [
  {
    id: "weather",
    state: "running",
    version: "1.0.0",
    provides: { ...nothing, tools: ["a", "b"], hooks: ["h"] },
    trouble: null,
  },
  {
    id: "broken\u001b[2J",
    state: "failed",
    version: null,
    provides: nothing,
    trouble: "It failed: no luck (index.ts:3:1)",
  },
];

async function listed() {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    asked.push(`${request.method} ${pathname}`);
    if (request.method === "GET") return Response.json({ items: ITEMS });
    return Response.json({ plugin: ITEMS[pathname.includes("weather") ? 0 : 1] });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

describe("the plugins of a running gateway", () => {
  test("are listed with their state, what they bring, and what is wrong", async () => {
    await using fx = await listed();
    expect(await fx.run("plugins", "list")).toBe(0);
    const [head = "", first = "", second = ""] = fx.out().split("\n");
    expect(head).toMatch(/^PLUGIN +STATE +VERSION +PROVIDES +TROUBLE$/);
    expect(first).toMatch(/^weather +running +1\.0\.0 +tools: a, b; hooks: h$/);
    expect(second).toMatch(/failed +It failed: no luck \(index\.ts:3:1\)$/);
    expect(fx.out()).not.toContain("\u001b");
  });

  test("are reloaded one by one, and one that does not come up ends the command with 1", async () => {
    await using fx = await listed();
    expect([await fx.run("plugins", "reload", "weather"), await fx.run("plugins", "reload", "broken")]).toEqual([0, 1]);
    expect(fx.asked).toEqual(["POST /api/plugins/weather/reload", "POST /api/plugins/broken/reload"]);
  });
});

/** A build with one file of types. */
async function withTypes() {
  const types = { path: "" };
  const assets = { sdk: async () => new Map([["plugin.d.ts", types.path]]) } as unknown as NonNullable<
    CliWorld["assets"]
  >;
  const fx = await cliFixture({ assets });
  types.path = join(fx.home, "types");
  await writeFile(types.path, "export {};\n");
  return fx;
}

describe("a new plugin", () => {
  test("is for its owner alone, with the types in the folder above", async () => {
    await using fx = await withTypes();
    expect(await fx.run("plugins", "new", "weather", "--json")).toBe(0);
    const { files } = JSON.parse(fx.out()) as { files: string[] };
    const modes = await Promise.all(files.map(async (file) => (await stat(file)).mode & 0o777));
    expect([modes.length, new Set(modes)]).toEqual([5, new Set([0o600])]);
    const types = join(fx.home, "plugins/node_modules/pi-gateway/plugin.d.ts");
    expect(await readFile(types, "utf8")).toBe("export {};\n");
  });

  test("leaves a package alone that somebody has installed there", async () => {
    await using fx = await withTypes();
    const installed = join(fx.home, "project/node_modules/pi-gateway/package.json");
    await Bun.write(installed, JSON.stringify({ name: "pi-gateway", bin: {} }));
    expect(await fx.run("plugins", "new", "weather", "--dir", "project")).toBe(0);
    expect(await Bun.file(installed).exists()).toBe(true);
    expect(await Bun.file(join(fx.home, "project/node_modules/pi-gateway/plugin.d.ts")).exists()).toBe(false);
  });

  test.each(["Weather", "../x", "-x", "a_b", "x".repeat(65)])("is not called %s", async (name) => {
    await using fx = await withTypes();
    expect(await fx.run("plugins", "new", "--", name)).toBe(1);
    expect(fx.err()).toContain("small letters, digits and dashes");
  });
});
