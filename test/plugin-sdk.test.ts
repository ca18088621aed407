/**
 * A plugin as its author meets it: made by `pi-gw plugins new`, seen by a type checker where the docs say the types are, checked without a
 * gateway, run and reloaded by one. Each mistake is told with the author's file and line.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";
import { pluginsOf } from "./plugins-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = join(dirname(import.meta.dir), "dist", "main.js");

/** Compiles only with the types of routes, streams and events. */
const USES_CLIENT = `import { createGatewayClient } from "pi-gateway/client";
const client = createGatewayClient({ url: "http://127.0.0.1:1", token: "" });
export async function look(): Promise<string> {
  for await (const event of client.chatStream({ text: "hi" })) if (event.event === "delta") return event.data.text;
  // @ts-expect-error: there is no such route
  await client.request("GET /api/nothing");
  // @ts-expect-error: the key is missing
  await client.request("GET /api/sessions/:key", {});
  using socket = await client.connect();
  const { sessionKey } = await socket.call("chat.send", { session: "a", text: "b", clientId: "c" });
  return sessionKey + (await client.request("GET /api/status")).version;
}
`;

let home: TempHome;
let gateway: GatewayProcess;

interface Ran {
  readonly code: number;
  readonly said: string;
}

async function run(command: readonly string[], cwd = home.path): Promise<Ran> {
  const env = { PATH: process.env.PATH ?? "", HOME: home.path };
  const child = Bun.spawn([process.execPath, "--no-env-file", ...command], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, said: `${out}${err}` };
}

const plugins = (...args: readonly string[]) => run([MAIN, "plugins", ...args, "--home", home.path]);
const file = (...path: readonly string[]) => join(home.path, "plugins", ...path);

/** Every block of TypeScript of the two pages, each a scope of its own; imports come first. */
async function docsExamples(): Promise<string> {
  const pages = ["docs/plugins.md", "docs/client.md"].map((page) =>
    readFile(join(dirname(import.meta.dir), page), "utf8"),
  );
  const blocks = (await Promise.all(pages)).flatMap((page) =>
    [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ""]) => text),
  );
  const whole = blocks.filter((text) => !text.includes("function (api) {")); // the shape of a plugin, without types
  const imports = new Set(whole.flatMap((text) => text.match(/^import .*;$/gm) ?? []));
  const scopes = whole.map(
    (text) =>
      `async () => {\n${text.replaceAll(/^import .*;$|^export default /gm, "").replace("function (", "function plugin(")}\n};`,
  );
  const given = "declare const client: ReturnType<typeof createGatewayClient>;\ndeclare const process: any;";
  return [...imports, given, ...scopes].join("\n");
}

const leavesTimer = (text: string, value: string): string =>
  text.replace("api.register", `setInterval(() => ${value}, 60_000);\n  api.register`);

/** Changes the file for the time of `look`. */
async function withChange(path: string, change: (text: string) => string, look: () => Promise<void>): Promise<void> {
  const before = await readFile(path, "utf8");
  await writeFile(path, change(before));
  try {
    await look();
  } finally {
    await writeFile(path, before);
  }
}

async function withFile(path: string, text: string, look: () => Promise<void>): Promise<void> {
  await writeFile(path, text);
  await look().finally(() => rm(path));
}

beforeAll(async () => {
  home = await tempHome();
  for (const [name, ...flags] of [["weather"], ["tide", "--js"]] as const) await plugins("new", name, ...flags);
  const config = { plugins: { enabled: ["weather", "tide"] }, agent: { pool: { min: 0, max: 1 } } };
  gateway = await startGatewayProcess({ home: home.path, config });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

test("a new plugin runs in the gateway, in TypeScript and in JavaScript", async () => {
  const states = async () => [...(await pluginsOf(gateway)).values()].map(({ id, state }) => `${id} ${state}`);
  await eventually("both plugins run", states, (now) =>
    ["weather", "tide"].every((id) => now.includes(`${id} running`)),
  );
  const body = JSON.stringify({ tool: "tide", params: { word: "strawberry", letter: "r" } });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  expect(await (await gateway.fetch("/api/tools/call", init)).json()).toMatchObject({
    result: { content: [{ text: "3" }] },
  });
  const listed = await plugins("list");
  expect(listed.said).toMatch(/weather +running +1\.0\.0 +tools: weather/);
});

test("a type checker finds the types beside the plugin, and its tests run through the real gate", async () => {
  expect(existsSync(file("node_modules", "pi-gateway", "plugin.d.ts"))).toBe(true);
  for (const id of ["weather", "tide"]) {
    expect(await run(["check", "--no-script", "--no-pretty", "-p", file(id)])).toMatchObject({ code: 0 });
    const tests = await run(["test", file(id)], file(id));
    expect([tests.code, tests.said]).toEqual([0, expect.stringContaining("2 pass")]);
  }
  await writeFile(file("weather", "uses-client.ts"), USES_CLIENT);
  const strict = ["check", "--no-script", "--no-pretty", "--skipLibCheck", "false", "-p", file("weather")];
  expect(await run(strict)).toMatchObject({ code: 0 });
});

test("the examples of the documentation compile", async () => {
  await withFile(file("weather", "example.ts"), await docsExamples(), async () => {
    expect(await run(["check", "--no-script", "--no-pretty", "-p", file("weather")])).toMatchObject({ code: 0 });
  });
});

test("a plugin in another folder of plugins is found by its name", async () => {
  const dir = join(home.path, "elsewhere");
  await plugins("new", "rain", "--dir", dir);
  const config = join(home.path, "elsewhere.jsonc");
  await writeFile(config, JSON.stringify({ plugins: { dirs: [dir] } }), { mode: 0o600 });
  expect((await plugins("check", "rain", "--config", config)).said).toBe("rain can be loaded.\n  tools: rain\n");
  expect((await plugins("check", "rain")).said).toContain("There is no folder");
});

test("a name that is taken or wrong is refused, and nothing is overwritten", async () => {
  expect((await plugins("new", "weather")).said).toContain("is there already");
  expect((await plugins("new", "Weather Two")).said).toContain("small letters, digits and dashes");
});

describe("plugins check", () => {
  test("ends when a plugin leaves a timer behind, and knows what plugins may import", async () => {
    await plugins("new", "ticker", "--js");
    const main = file("ticker", "index.js");
    const client = 'import { createGatewayClient } from "pi-gateway/client";';
    await writeFile(main, `${client}\n${leavesTimer(await readFile(main, "utf8"), "createGatewayClient")}`);
    expect(await plugins("check", "ticker")).toMatchObject({ code: 0, said: expect.stringContaining("tools: ticker") });
  });

  test("says what a plugin registers", async () => {
    expect(await plugins("check", "weather")).toEqual({ code: 0, said: "weather can be loaded.\n  tools: weather\n" });
  });

  const replace = (from: string, to: string) => (text: string) => text.replace(from, to);
  const NO_SYNTAX = replace("const count =", "const = count =");
  const THROWS = replace("api.register", "\n  null.x;\n  api.register");

  test.each([
    ["weather/index.ts", "a wrong parameter", replace("word.split", "wort.split"), "index.ts(19,23): error TS"],
    ["weather/index.ts", "a syntax error", NO_SYNTAX, "weather/index.ts:19:"],
    ["tide/index.js", "a syntax error", NO_SYNTAX, "tide/index.js:20:"],
    ["weather/index.ts", "an error", THROWS, "weather/index.ts:5:"],
    ["tide/index.js", "an error", THROWS, "tide/index.js:6:"],
    ["tide/index.js", "a misspelt key", replace("idempotent", "idempotnt"), "tide/index.js:5:"],
    ["tide/plugin.json", "a wrong manifest", replace('"main"', '"mian"'), "Did you mean main?"],
  ])("tells %s with %s the place in its author's file", async (path, _what, change, says) => {
    await withChange(file(path), change, async () => {
      const { code, said } = await plugins("check", dirname(path));
      expect([code, said]).toEqual([1, expect.stringContaining(says)]);
    });
  });
});

test("a plugin that is reloaded starts anew from its files, and one that is not there is refused", async () => {
  const since = async () => (await pluginsOf(gateway)).get("weather")?.since ?? 0;
  const before = await since();
  expect(await plugins("reload", "weather")).toMatchObject({ code: 0, said: expect.stringContaining("running") });
  expect(await since()).toBeGreaterThan(before);
  expect(await plugins("reload", "nothing")).toMatchObject({
    code: 1,
    said: expect.stringContaining("There is no plugin called nothing."),
  });
});

test("a gateway ends in good order although a plugin left a timer behind", async () => {
  const main = file("tide", "index.js");
  const since = async () => (await pluginsOf(gateway)).get("tide")?.since ?? 0;
  const before = await since();
  await writeFile(main, leavesTimer(await readFile(main, "utf8"), "null"));
  await eventually("the plugin runs with its timer", since, (now) => now > before);
  await plugins("reload", "tide");
  expect(await gateway.stop()).toBe(0);
});
