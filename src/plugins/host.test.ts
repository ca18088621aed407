/** Plugins in folders, from the first look to the stop: found, loaded from a copy, replaced, removed, and nothing of them left. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { deferred } from "../kit/deferred.ts";
import { createEvents } from "../observe/index.ts";
import { type TempHome, tempHome } from "../testing/temp-home.ts";
import { unhandledIn } from "../testing/unhandled.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { pluginHouse } from "../testing/worlds/plugin-house.ts";
import { type BuiltinPlugin, type Plugins, type PluginsOptions, startPlugins } from "./host.ts";
import { readFolder } from "./folder/read-folder.ts";

let home: TempHome;
let plugins: Plugins | null = null;
afterEach(async () => {
  await plugins?.[Symbol.asyncDispose]();
  plugins = null;
  await home[Symbol.asyncDispose]();
});

/** What the code of a test plugin tells the test. */
const heard: string[] = [];
Object.assign(globalThis, { tellTest: (word: string) => void heard.push(word) });

const TELLS = (word: string) => `export default (api) => {
  globalThis.tellTest("init ${word}");
  api.registerCommand({ name: "wave", help: "", roles: ["owner"], run: async () => "${word}" });
  api.registerService({ name: "s", start: async () => async () => {
    globalThis.tellTest("stopping ${word}");
    await new Promise((resolve) => setTimeout(resolve, 1));
    globalThis.tellTest("stopped ${word}");
  } });
};`;

async function put(id: string, code: string, root = "plugins"): Promise<string> {
  const folder = join(home.path, root, id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const about = { id, version: "1.0.0", main: "lib/index.ts", gateway: "*" };
  await mkdir(join(folder, "lib"), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "plugin.json"), JSON.stringify(about), { mode: 0o600 });
  await writeFile(join(folder, "lib/index.ts"), code, { mode: 0o600 });
  return folder;
}

async function world(over: Partial<Config["plugins"]> = {}, builtin: readonly BuiltinPlugin[] = []) {
  home = await tempHome();
  heard.length = 0;
  const house = pluginHouse();
  const at = { broken: false, stray: [] as (readonly [unknown, string])[] };
  const events = createEvents({ log: house.log });
  const told: string[] = [];
  events.on("status", ({ what }) => void told.push(what));
  const config: { -readonly [K in keyof Config["plugins"]]: Config["plugins"][K] } = {
    dirs: [],
    enabled: ["one"],
    disabled: [],
    pins: {},
    config: {},
    ...over,
  };
  const options: { -readonly [K in keyof PluginsOptions]: PluginsOptions[K] } = {
    home: home.path,
    userHome: "/",
    version: "1.0.0",
    builtin,
    disabledIds: [],
    modules: {},
    config() {
      if (at.broken) throw new Error("no settings");
      return config;
    },
    agentFolders: () => [],
  };
  const start = async () =>
    (plugins = await startPlugins(
      {
        ...house.services,
        clock: house.clock,
        log: house.log,
        events,
        hide: () => undefined,
        ofNoPlugin: (...given) => at.stray.push(given) > 0,
      },
      options,
    ));
  const status = (id = "one") => plugins?.list().find((one) => one.id === id);
  return Object.assign(at, { ...house, config, options, told, start, status });
}

const copies = (): readonly string[] => {
  const folder = join(home.path, "run/plugins/one");
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe("plugin host: a plugin in a folder", () => {
  test("runs from a private copy; a stop waits for its service, removes the copy and what it registered", async () => {
    const at = await world();
    await put("one", TELLS("first"));
    const listeners = () => process.listenerCount("uncaughtException") + process.listenerCount("unhandledRejection");
    const before = listeners();
    const running = await at.start();
    expect([at.status()?.state, at.commands.has("wave"), copies().length]).toEqual(["running", true, 1]);
    const copy = join(home.path, "run/plugins/one", copies()[0] ?? "");
    expect([copy, join(copy, "lib"), join(copy, "lib/index.ts")].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o700, 0o600,
    ]);
    expect(listeners()).toBe(before + 2);
    await running[Symbol.asyncDispose]();
    plugins = null;
    expect([heard, at.commands.size, copies()]).toEqual([["init first", "stopping first", "stopped first"], 0, []]);
    expect([listeners(), at.clock.pending()]).toEqual([before, 0]);
  });

  test("finds nothing of a previous process when the gateway starts, and is told nothing after the gateway has stopped", async () => {
    const at = await world();
    const left = join(home.path, "run/plugins/gone/0123-1");
    await mkdir(left, { recursive: true });
    await put("one", TELLS("first"));
    const running = await at.start();
    expect(existsSync(left)).toBe(false);
    await running[Symbol.asyncDispose]();
    plugins = null;
    const before = at.told.length;
    at.hooks.on("gateway_start", () => Promise.reject(new Error("too late")), "one");
    at.hooks.tell("gateway_start", {} as never);
    await at.clock.advance(0);
    expect(at.told).toHaveLength(before);
  });

  test("that changed is stopped before its new version starts, and the copy of the old one is gone", async () => {
    const at = await world();
    await put("one", TELLS("first"));
    const running = await at.start();
    await put("one", TELLS("second"));
    await running.refresh();
    expect(heard).toEqual(["init first", "stopping first", "stopped first", "init second"]);
    expect([at.status()?.state, copies().length]).toEqual(["running", 1]);
    expect(await at.commands.get("wave")?.run("", {} as never, new AbortController().signal)).toBe("second");
  });

  test("that did not change goes on through a reload", async () => {
    const at = await world();
    await put("one", TELLS("first"));
    const running = await at.start();
    await running.refresh();
    expect([heard, copies().length]).toEqual([["init first"], 1]);
  });

  test("names the author's file and line in what goes wrong, also after a reload that changed nothing", async () => {
    const at = await world();
    const folder = await put(
      "one",
      'export default (api) => {\n  api.registerHook("gateway_start", () => {\n    throw new Error("no");\n  });\n};',
    );
    const running = await at.start();
    await running.refresh();
    at.hooks.tell("gateway_start", {} as never);
    await waitFor("the trouble", () => at.status()?.trouble ?? null);
    expect(at.status()?.trouble).toContain(`(${folder}/lib/index.ts:3:`);
  });

  test("whose folder is removed is stopped and not listed any more, which is told", async () => {
    const at = await world({ enabled: ["one", "two"] });
    await put("one", TELLS("first"));
    const running = await at.start();
    at.config.enabled = [];
    await rm(join(home.path, "plugins/one"), { recursive: true });
    at.told.length = 0;
    await running.refresh();
    expect([at.status(), at.commands.size, heard.at(-1)]).toEqual([undefined, 0, "stopped first"]);
    expect(at.told).toContain("plugins");
  });

  test("whose folder is back before it has stopped runs again and is listed", async () => {
    const at = await world();
    const mayStop = deferred<void>();
    Object.assign(globalThis, { mayStop: mayStop.promise });
    const slow = `export default (api) => {
      api.registerService({ name: "s", start: async () => async () => {
        globalThis.tellTest("stopping");
        await globalThis.mayStop;
      } });
    };`;
    await put("one", slow);
    const running = await at.start();
    at.config.enabled = [];
    await rm(join(home.path, "plugins/one"), { recursive: true });
    const gone = running.refresh();
    await waitFor("the stop to begin", () => heard.includes("stopping"));
    at.config.enabled = ["one"];
    await put("one", TELLS("again"));
    const back = running.refresh();
    mayStop.resolve();
    await waitForEnd("both looks", Promise.all([gone, back]));
    expect([at.status()?.state, at.commands.has("wave")]).toEqual(["running", true]);
  });

  test("that fails to start has no copy left, says why, and is tried again when it changed", async () => {
    const at = await world();
    await put("one", "export default () => { throw new Error('no key'); };");
    const running = await at.start();
    expect([at.status(), copies()]).toMatchObject([
      { state: "failed", trouble: expect.stringContaining("no key") },
      [],
    ]);
    expect(running.notices()).toEqual([expect.stringContaining("Plugin one does not run: It failed: no key")]);
    await put("one", TELLS("second"));
    await running.refresh();
    expect([at.status()?.state, at.status()?.trouble, running.notices()]).toEqual(["running", null, []]);
  });

  test.each([
    ["nobody enabled", { enabled: [] }, "available"],
    ["is enabled and disabled", { disabled: ["one"] }, "disabled"],
    ["has another digest than the pinned one", { pins: { one: "0".repeat(64) } }, "failed"],
  ])("that %s is not run", async (_what, over, state) => {
    const at = await world(over);
    await put("one", TELLS("first"));
    await at.start();
    expect([at.status()?.state as string, heard]).toEqual([state, []]);
  });

  test("with the pinned digest runs, and stops when it is disabled", async () => {
    const at = await world();
    const read = readFolder(await put("one", TELLS("first")), process.getuid?.() ?? null);
    at.config.pins = { one: read.ok ? read.digest : "" };
    const running = await at.start();
    expect(at.status()?.state).toBe("running");
    at.config.disabled = ["one"];
    await running.refresh();
    expect([at.status()?.state, heard.at(-1)]).toEqual(["disabled", "stopped first"]);
  });

  test("in a folder that the settings name from now on is found, and its changes are followed", async () => {
    const at = await world({ enabled: ["two"] });
    const running = await at.start();
    await put("two", TELLS("first"), "more");
    at.config.dirs = [join(home.path, "more")];
    await running.refresh();
    expect(at.status("two")?.state).toBe("running");
    await put("two", TELLS("second"), "more");
    await waitFor("the change is seen", () => {
      void at.clock.advance(200);
      return heard.includes("init second");
    });
  });

  test("in a folder that the settings no longer name is not looked for any more", async () => {
    const { start, clock, config } = await world();
    const { refresh } = await start();
    const before = clock.pending();
    config.dirs = [join(home.path, "not made yet")];
    await refresh();
    expect(clock.pending()).toBe(before + 1); // looks for it each second
    config.dirs = [];
    await refresh();
    expect(clock.pending()).toBe(before);
  });

  test("that changes while the settings cannot be read is nobody's unhandled failure, and is seen with the next change", async () => {
    const at = await world();
    await put("one", TELLS("first"));
    await at.start();
    at.broken = true;
    const failures = () => at.log.lines.filter(({ words }) => words === "plugins could not be looked for").length;
    const unhandled = await unhandledIn(async () => {
      await put("one", TELLS("second"));
      await waitFor("the failure is told", () => {
        void at.clock.advance(200);
        return failures() > 0;
      });
    });
    expect(unhandled).toEqual([]);
    at.broken = false;
    await put("one", TELLS("third"));
    await waitFor("the change is seen", () => {
      void at.clock.advance(200);
      return heard.includes("init third");
    });
  });

  test.each([
    ["uncaughtException", "exception"],
    ["unhandledRejection", "rejection"],
  ] as const)("is not to blame for an %s of the gateway itself, which is told there as an %s", async (event, how) => {
    const at = await world();
    await put("one", TELLS("first"));
    await at.start();
    const error = new Error("our own");
    process.emit(event as "uncaughtException", error); // as the runtime would
    expect([at.stray, at.status()?.state]).toEqual([[[error, how]], "running"]);
    expect(at.stray[0]?.[0]).toBe(error);
  });

  test.each(["uncaughtException", "unhandledRejection"] as const)(
    "whose error escapes as %s is stopped",
    async (how) => {
      const at = await world();
      await put("one", TELLS("first"));
      await at.start();
      const error = Object.assign(new Error("late"), {
        stack: `Error: late\n    at run (${join(home.path, "run/plugins/one", copies()[0] ?? "")}/lib/index.ts:1:1)`,
      });
      process.emit(how as "uncaughtException", error); // as the runtime would
      await waitFor("it is stopped", () => at.status()?.state === "failed");
      expect(at.status()?.trouble).toContain("It let an error escape: late");
      expect([at.commands.size, heard.at(-1)]).toEqual([0, "stopped first"]);
    },
  );
});

describe("plugin host: the start", () => {
  test("does not wait longer than two seconds for a plugin that hangs, which still comes up", async () => {
    const at = await world();
    await put("one", "export default () => new Promise((resolve) => { globalThis.goOn = resolve; });");
    const starting = at.start();
    await waitFor("it hangs", () => "goOn" in globalThis);
    await at.clock.advance(2_000);
    await waitForEnd("the start", starting);
    expect(at.status()?.state).toBe("loading");
    (globalThis as unknown as { goOn(): void }).goOn();
    await waitFor("it runs", () => at.status()?.state === "running");
  });

  test("runs what comes with the gateway first, and anew when its key has changed", async () => {
    const begun: string[] = [];
    let key = "a";
    const at = await world({}, [{ id: "own", init: () => void begun.push(`own ${key}`), key: () => key }]);
    await put("one", 'export default () => globalThis.tellTest("init one");');
    const running = await at.start();
    expect([begun, heard]).toEqual([["own a"], ["init one"]]);
    await running.refresh();
    key = "b";
    await running.refresh();
    expect(begun).toEqual(["own a", "own b"]);
    at.config.disabled = ["own", "nothing"];
    await running.refresh();
    expect([at.status("own")?.state, at.status("own")?.builtin]).toEqual(["disabled", true]);
    expect(running.notices()).toEqual([expect.stringContaining("plugins.disabled names nothing")]);
  });
});

describe("plugin host: a notice for the owner", () => {
  test("names an id in plugins.disabled that means nothing, with the one that was probably meant", async () => {
    const at = await world({ disabled: ["telegrm", "zzzzzzzz", "one", "telegram"] });
    at.options.disabledIds = ["telegram"];
    await put("one", TELLS("first"));
    const notices = (await at.start()).notices();
    const told = "which is no plugin, channel or tool that can be disabled.";
    expect(notices).toEqual([
      `plugins.disabled names telegrm, ${told} Did you mean telegram?`,
      `plugins.disabled names zzzzzzzz, ${told}`,
    ]);
  });

  test.each([
    [5, "t0, t1, t2, t3, t4. pi-gw"],
    [6, "t0, t1, t2, t3, t4 and 1 more. pi-gw"],
  ])("lists five quarantined tools of %d, and counts the others", async (count, words) => {
    const at = await world();
    const listed = Array.from({ length: count }, (_, n) => ({ name: `t${n}`, plugin: "one", reason: "no schema" }));
    const others = [
      { name: "fine", plugin: "one", notices: ["a hint"] },
      { name: "foreign", plugin: "two", reason: "no schema" },
    ];
    Object.assign(at.services.registry, { list: () => [...listed, ...others] });
    await put("one", TELLS("first"));
    const notices = (await at.start()).notices();
    expect(notices.join(" ")).toContain(`Plugin one has quarantined tools: ${words}`);
  });

  test("is that a plugin does not run, or has trouble, and why", async () => {
    const at = await world();
    await put("one", "export default () => { throw new Error('no luck'); };");
    expect((await at.start()).notices()).toEqual([expect.stringMatching(/^Plugin one does not run: .*no luck/)]);
  });

  test("is not needed for a reload of what comes with the gateway, or of no plugin", async () => {
    const at = await world({}, [{ id: "own", init: () => undefined }]);
    await put("one", TELLS("first"));
    const running = await at.start();
    expect([await running.reload("own"), await running.reload("none")]).toEqual([null, null]);
    expect((await running.reload("one"))?.state).toBe("running");
  });
});
