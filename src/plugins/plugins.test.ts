/** One plugin from load to stop, its folder, its manifest and its memory. */
import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GatewayPlugin, PluginTool } from "../contracts/plugin.ts";
import type { Tool } from "../contracts/tools/tool.ts";
import { tempHome } from "../testing/temp-home.ts";
import { MEMBER, OWNER, toolWorld } from "../testing/tools/tool-world.ts";
import { pluginHouse } from "../testing/worlds/plugin-house.ts";
import { checkPluginConfig, wrapSecrets } from "./folder/check-config.ts";
import { discoverPlugins } from "./folder/discover.ts";
import { inRange, readManifest } from "./folder/manifest.ts";
import { readFolder } from "./folder/read-folder.ts";
import { DEADLINES } from "./run/plugin.ts";
import { createStorage } from "./run/storage.ts";
import { pluginInStack } from "./stray-errors.ts";

const me = process.getuid?.() ?? null;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function tool(name: string): PluginTool {
  const parameters = { type: "object", properties: {}, additionalProperties: false };
  return { name, description: name, parameters, execute: async () => ({ content: [{ type: "text", text: "done" }] }) };
}

describe("a plugin", () => {
  test("registers tools, commands, hooks and channels, and none of them is left after its stop", async () => {
    const { start, tools, commands, channels, hooks, skills } = pluginHouse();
    const ended: string[] = [];
    const running = await start((api) => {
      api.registerTool(tool("first"));
      api.registerCommand({ name: "wave", help: "", roles: ["owner"], run: async () => "hi" });
      api.registerHook("gateway_start", () => undefined);
      api.registerRoute({ method: "GET", path: "/x", handle: () => ({ ok: 1 }) });
      api.registerSkill({ name: "knots", path: "run/plugin-copy.ts" });
      api.registerService({ name: "s", start: async () => () => void ended.push("service") });
      api.registerChannel({ id: "pigeon", open: async () => [] });
      api.registerMcp({
        resources: [{ uri: "tide://now", name: "Tide", read: () => ({ text: "high" }) }],
        prompts: [{ name: "sail", description: "Sail", get: () => [] }],
      });
      api.signal.addEventListener("abort", () => ended.push("signal"));
    });
    expect(running.provides()).toEqual({
      tools: ["first"],
      commands: ["wave"],
      hooks: ["gateway_start"],
      routes: ["GET /x"],
      services: ["s"],
      skills: ["knots"],
      channels: ["pigeon"],
      mcp: ["tide://now", "sail"],
    });
    const path = join(import.meta.dir, "run/plugin-copy.ts");
    expect([...skills.values()]).toEqual([{ path, digest: "d1" }]);
    expect(tools.get("first")).toMatchObject({ label: "first", flags: { idempotent: false }, timeoutMs: 60_000 });
    expect(await (await running.route("GET", "/x")?.handle({} as never))?.json()).toEqual({ ok: 1 });
    await running.stop();
    expect([tools.size, commands.size, channels.size, hooks.of("gateway_start").length]).toEqual([0, 0, 0, 0]);
    expect(skills.size).toBe(0);
    expect(ended).toEqual(["signal", "service"]);
  });

  test("brings tools that differ from caller to caller; one that is made wrong for a caller is not there, and nobody else misses anything", async () => {
    const world = toolWorld([]);
    const { start } = pluginHouse(world.registry);
    const broken = [
      { ...tool("no_execute"), execute: undefined },
      tool("bash"),
      {},
      "text",
      Promise.resolve(tool("p")),
    ];
    await start((api) => {
      api.registerTool(({ role }) => (role === "owner" ? tool("for_owners") : null));
      for (const made of broken) api.registerTool(({ role }) => (role === "owner" ? null : (made as PluginTool)));
      api.registerTool(tool("for_all"));
    });
    const names = (caller: typeof OWNER) => world.gate.specs(caller).map(({ name, label }) => [name, label]);
    expect(names(MEMBER)).toEqual([["for_all", "for_all"]]);
    expect(names(OWNER)).toEqual([
      ["for_owners", "for_owners"],
      ["for_all", "for_all"],
    ]);
    expect(await world.call({}, { tool: "for_owners" })).toMatchObject({ kind: "ok" });
    expect(await world.call({}, { tool: "for_owners", context: MEMBER })).toMatchObject({ code: "unknown_tool" });
  });

  test("has routes that are for owners unless they say that they are public", async () => {
    const { start } = pluginHouse();
    const running = await start((api) => {
      api.registerRoute({ method: "GET", path: "/silent", handle: () => null });
      api.registerRoute({ method: "GET", path: "/owners", access: "owner", handle: () => null });
      api.registerRoute({ method: "GET", path: "/open", access: "public", handle: () => null });
    });
    const access = ["/silent", "/owners", "/open"].map((path) => running.route("GET", path)?.access);
    expect(access).toEqual(["owner", "owner", "public"]);
    expect(running.route("POST", "/open")).toBeNull();
  });

  test("registers everything at once when its init has ended, and nothing when its init fails", async () => {
    const { start, tools, clock } = pluginHouse();
    const hanging = start(async (api) => {
      api.registerTool(tool("early"));
      await new Promise(() => undefined);
    });
    await turn();
    expect(tools.size).toBe(0);
    const failed = hanging.catch((error: { say: string }) => error.say);
    await clock.advance(DEADLINES.initMs);
    expect(await failed).toBe("Its init did not end within 10000 ms.");
    expect(tools.size).toBe(0);
  });

  test("that collides at its second tool takes its first one away again", async () => {
    const { start, tools } = pluginHouse();
    tools.set("taken", {} as Tool);
    const failed = await start((api) => {
      api.registerTool(tool("fine"));
      api.registerTool(tool("taken"));
    }).catch((error: { say: string }) => error.say);
    expect(failed).toBe("It failed: taken is taken");
    expect([...tools.keys()]).toEqual(["taken"]);
  });

  test("cannot take the place of pi tools, escape its folder or its address, or register after its end", async () => {
    const { start } = pluginHouse();
    const why = (plugin: GatewayPlugin) => start(plugin).then(String, (error: { say: string }) => error.say);
    expect(await why((api) => void api.registerTool(tool("bash")))).toContain("pi has one of that name");
    expect(await why((api) => void api.registerSkill({ name: "a", path: "../b" }))).toContain(
      "its own folder".slice(4),
    );
    expect(await why((api) => void api.registerSkill({ name: "a", path: "nothing" }))).toContain("has no nothing");
    const route = (path: string) => ({ method: "GET" as const, path, handle: () => null });
    for (const path of ["x", "/../x", "/a/../b", "/:id", "//x"])
      expect([path, await why((api) => void api.registerRoute(route(path)))]).toEqual([
        path,
        expect.stringContaining("not a path"),
      ]);
    let late: () => unknown = () => undefined;
    const running = await start((api) => {
      late = () => api.registerTool(tool("late"));
    });
    await running.stop();
    expect(late).toThrow("The plugin is stopped");
  });

  test("whose route or command fails answers with a sentence", async () => {
    const { start, commands, clock } = pluginHouse();
    const running = await start((api) => {
      api.registerRoute({ method: "GET", path: "/bad", handle: () => Promise.reject(new Error("inner words")) });
      api.registerRoute({ method: "GET", path: "/slow", handle: () => new Promise(() => undefined) });
      api.registerCommand({
        name: "bad",
        help: "",
        roles: ["owner"],
        run: () => Promise.reject(new Error("inner words")),
      });
    });
    const answer = (path: string) =>
      running
        .route("GET", path)
        ?.handle({} as never)
        .catch(String);
    expect(await answer("/bad")).not.toContain("inner words");
    const slow = answer("/slow");
    await turn();
    await clock.advance(DEADLINES.routeMs);
    expect(await slow).toContain("plugin_failed");
    expect(await commands.get("bad")?.run("", {} as never, new AbortController().signal)).toContain("did not work");
  });

  test("whose service does not stop is left behind after a while", async () => {
    const { start, clock, log } = pluginHouse();
    const running = await start(
      (api) => void api.registerService({ name: "stuck", start: async () => () => new Promise<void>(() => undefined) }),
    );
    const stopped = running.stop();
    await turn();
    await clock.advance(DEADLINES.stopMs);
    await stopped;
    expect(JSON.stringify(log.lines)).toContain("did not stop cleanly");
  });
});

describe("a manifest", () => {
  const good = { id: "one", version: "1.0.0", main: "index.ts", gateway: ">=0.1" };
  const verdict = (change: object) => {
    const read = readManifest(JSON.stringify({ ...good, ...change }), "0.1.0");
    return read.ok ? "ok" : read.why;
  };
  test.each([
    [{}, "ok"],
    [{ description: "x", config: { type: "object" } }, "ok"],
    [{ id: "../x" }, "id must be"],
    [{ version: "1" }, "version must be"],
    [{ main: "../index.ts" }, "main must name"],
    [{ main: "/etc/x.ts" }, "main must name"],
    [{ main: "a/../../x.ts" }, "main must name"],
    [{ main: "index.sh" }, "main must name"],
    [{ gateway: ">=2" }, "It works with gateway >=2; this is 0.1.0."],
    [{ gateway: "nonsense" }, "It works with gateway nonsense"],
    [{ config: { type: "string" } }, "config must be a JSON Schema"],
    [{ postinstall: "x" }, 'has "postinstall"'],
  ])("with %p is judged: %s", (change, words) => expect(verdict(change)).toContain(words));

  test("names versions the way people do", () => {
    expect(inRange("0.1.0-dev.3", ">=0.1")).toBe(true);
    expect(inRange("1.4.2", "^1.2")).toBe(true);
    expect(inRange("1.4.2", ">=1 <2")).toBe(true);
    expect(inRange("2.0.0", ">=1 <2")).toBe(false);
  });

  test("marks settings that are secret: the plugin gets them wrapped, and the log is told to hide them", () => {
    const config = { type: "object", properties: { key: { type: "string", secret: true }, name: { type: "string" } } };
    const hidden: string[] = [];
    const given = wrapSecrets({ config }, { key: "k-123", name: "Ada" }, (one) => hidden.push(one.reveal()));
    expect(JSON.stringify(given)).toBe('{"key":"[redacted]","name":"Ada"}');
    expect((given["key"] as { reveal(): string }).reveal()).toBe("k-123");
    expect(hidden).toEqual(["k-123"]);
  });

  test("says what settings the plugin takes", () => {
    const config = { type: "object", properties: { n: { type: "integer", default: 3 } }, additionalProperties: false };
    expect(checkPluginConfig({ id: "one", config }, {})).toEqual({ ok: true, config: { n: 3 } });
    expect(checkPluginConfig({ id: "one" }, { n: 1 })).toMatchObject({ ok: false });
  });

  test.each<[given: Record<string, unknown>, path: string[], say: string]>([
    [{ n: "x" }, ["n"], "plugins.config.one.n is text; it must be a whole number of at most 3."],
    [{ n: 4 }, ["n"], "plugins.config.one.n is 4; it must be a whole number of at most 3."],
    [{ id: "long" }, ["id"], "plugins.config.one.id must be text of at most 2 characters."],
    [{ nmae: "x" }, ["nmae"], "plugins.config.one.nmae is not a setting of this plugin. Did you mean name?"],
    [{ either: 5 }, ["either"], "plugins.config.one.either is 5; it must be text or null."],
    [{ rows: [{}] }, ["rows", "0", "kind"], 'plugins.config.one.rows.0.kind is missing; it must be "a" or "b".'],
    [
      { rows: [{ kind: "c" }] },
      ["rows", "0", "kind"],
      'plugins.config.one.rows.0.kind is text; it must be "a" or "b".',
    ],
    [{ same: true }, ["same"], "plugins.config.one.same is true; it must be a whole number of at most 3."],
  ])("refuses the settings %j, with the path and what is expected there", (given, path, say) => {
    const row = { type: "object", properties: { kind: { enum: ["a", "b"] } }, required: ["kind"] };
    const config = {
      type: "object",
      $defs: { small: { type: "integer", maximum: 3 } },
      properties: {
        n: { type: "integer", maximum: 3 },
        id: { type: "string", maxLength: 2 },
        name: { type: "string" },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
        rows: { type: "array", items: row },
        same: { $ref: "#/$defs/small" },
      },
      additionalProperties: false,
    };
    const checked = checkPluginConfig({ id: "one", config }, given);
    expect(checked).toMatchObject({ ok: false, why: say });
    expect(checked.ok ? [] : checked.problems[0]?.path).toEqual(path);
  });
});

describe("a plugin's folder", () => {
  test("is read when only its owner can write to it, and refused otherwise", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await mkdir(join(folder, "lib"), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, "index.ts"), "1", { mode: 0o600 });
    const look = () => readFolder(folder, me);
    const first = look();
    expect(first).toMatchObject({ ok: true, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const [path, mode] of [
      ["index.ts", 0o620],
      ["lib", 0o702],
      ["", 0o770],
    ] as const) {
      await chmod(join(folder, path), mode);
      expect([path, look()]).toEqual([
        path,
        { ok: false, why: expect.stringContaining("can be changed by other users") },
      ]);
      await chmod(join(folder, path), 0o700);
    }
    expect(readFolder(folder, (me ?? 0) + 1)).toMatchObject({ ok: me === 0 ? expect.any(Boolean) : false });
    await symlink("/etc/hosts", join(folder, "link"));
    expect(look()).toMatchObject({ ok: false, why: expect.stringContaining("is a link") });
  });

  test("has a digest that every change changes", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "one");
    await mkdir(folder, { mode: 0o700 });
    const digest = () => {
      const read = readFolder(folder, me);
      return read.ok ? read.digest : read.why;
    };
    const seen = new Set<string>();
    for (const [name, text] of [
      ["a", "1"],
      ["a", "2"],
      ["b", ""],
      ["c", "2"],
    ] as const) {
      await writeFile(join(folder, name), text, { mode: 0o600 });
      seen.add(digest());
    }
    expect(seen.size).toBe(4);
  });

  test("has a digest that tells where each file ends: two files are not one that contains both", async () => {
    await using home = await tempHome();
    const digestOf = async (name: string, files: Readonly<Record<string, string>>) => {
      const folder = join(home.path, name);
      await mkdir(folder, { mode: 0o700 });
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text, { mode: 0o600 });
      const read = readFolder(folder, me);
      return read.ok ? read.digest : read.why;
    };
    const two = await digestOf("two", { a: "good();", b: "more();" });
    expect(await digestOf("joined", { a: "good();b\0more();" })).not.toBe(two);
    expect(await digestOf("again", { a: "good();", b: "more();" })).toBe(two);
  });

  test("is not looked at inside an agent's workspace, under another name, or twice", async () => {
    await using home = await tempHome();
    const put = async (at: string, id: string) => {
      await mkdir(join(home.path, at), { recursive: true, mode: 0o700 });
      const about = { id, version: "1.0.0", main: "index.ts", gateway: "*" };
      await writeFile(join(home.path, at, "plugin.json"), JSON.stringify(about), { mode: 0o600 });
      await writeFile(join(home.path, at, "index.ts"), "", { mode: 0o600 });
    };
    await put("workspace/bad", "bad");
    await put("plugins/renamed", "other");
    await put("plugins/twice", "twice");
    await put("more/twice", "twice");
    const dirs = [join(home.path, "workspace"), join(home.path, "more")];
    const enabled = ["bad", "renamed", "twice", "absent"];
    const found = discoverPlugins(
      { dirs, enabled, disabled: [], pins: {}, config: {} },
      { home: home.path, version: "1.0.0", owner: me, userHome: "/", agentFolders: [join(home.path, "workspace")] },
    );
    const why = (id: string) => found.find((one) => one.id === id);
    expect(why("bad")).toMatchObject({ kind: "refused", why: "It lies in a folder that agents can write to." });
    expect(why("renamed")).toMatchObject({ kind: "refused", why: expect.stringContaining("must have the same name") });
    expect(why("twice")).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("two plugins with the id twice"),
    });
    expect(why("absent")).toMatchObject({ kind: "refused", why: expect.stringContaining("there is no such plugin") });
  });
});

describe("a plugin's memory", () => {
  test("lasts, is private, and has limits", async () => {
    await using home = await tempHome();
    const file = join(home.path, "data", "one.json");
    const storage = createStorage(file);
    expect(await storage.get("a")).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, (_, n) => storage.set(`key${n}`, { n })));
    await storage.delete("key3");
    const again = createStorage(file);
    expect(await again.get("key7")).toEqual({ n: 7 });
    expect((await again.keys()).length).toBe(19);
    const refused = (key: string, value: unknown) =>
      storage.set(key, value).then(
        () => "kept",
        (error: Error) => error.message,
      );
    expect(await refused("big", "x".repeat(70_000))).toContain("too_large");
    expect(await refused("x".repeat(200), 1)).toContain("too_large");
    expect(await refused("f", () => 1)).toContain("no JSON form");
    expect(await refused("__proto__", 1)).toContain("cannot be used");
    expect(JSON.parse(await readFile(file, "utf8")).big).toBeUndefined();
  });
});

test("a plugin's memory holds what is on the disk: a value that could not be saved is not read back", async () => {
  await using home = await tempHome();
  const storage = createStorage(join(home.path, "one.json"));
  const large = "x".repeat(60_000);
  let kept = 0;
  const failed = await (async () => {
    for (; kept < 100; kept++) await storage.set(`key${kept}`, large);
  })().catch((error: Error) => error.message);
  expect(failed).toContain("characters in all");
  expect([await storage.get(`key${kept}`), (await storage.keys()).length]).toEqual([undefined, kept]);
});

test("an error nobody caught is traced to the plugin whose code it names", () => {
  const error = Object.assign(new Error("x"), { stack: "Error: x\n  at f (/home/run/plugins/one/abc-1/index.ts:1:1)" });
  expect(pluginInStack(error, "/home/run/plugins")).toBe("one");
  expect(pluginInStack(new Error("ours"), "/home/run/plugins")).toBeNull();
  expect(pluginInStack("text", "/home/run/plugins")).toBeNull();
});
