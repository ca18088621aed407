/** `pi-gw init`, by flags and by questions: tried first, written once, never over something without being told. */
import { expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkConfigText } from "../../config/index.ts";
import { cliFixture } from "../../testing/cli-fixture.ts";
import type { CliWorld } from "../world.ts";
import type { ModelWish } from "../../contracts/setup.ts";

const KEY = "sk-key-of-a-test-0123456789";
const BOT = "123456:token-of-a-bot-of-a-test-abcdefghijk";

/** A provider that lists these models, and platforms that know the bot or not. */
async function world({ models = ["zeta-1", "claude-sonnet-4-5"], bot = true, answers }: Scene = {}) {
  const asked: ModelWish[] = [];
  const left = [...(answers ?? [])];
  const initProbes: NonNullable<CliWorld["initProbes"]> = {
    async model(_world, wish) {
      asked.push(wish);
      const ok = models.length > 0;
      return { ok, say: ok ? "it answers" : "it refuses this key", models };
    },
    channel: async () => ({ ok: bot, say: bot ? "the bot is @example" : "unknown token", models: [] }),
  };
  const fx = await cliFixture({
    initProbes,
    isTerminal: answers !== undefined,
    readLine: async () => left.shift() ?? null,
  });
  const file = join(fx.home, "pi-gateway.jsonc");
  const secretFile = async (name: string, text: string): Promise<string> => {
    await writeFile(join(fx.home, name), `${text}\n`);
    return join(fx.home, name);
  };
  const written = async () => {
    const text = await readFile(file, "utf8").catch(() => null);
    const { config, problems } = checkConfigText(text ?? "{}", () => undefined);
    expect(problems).toEqual([]);
    return text === null ? null : { text, config };
  };
  return { ...fx, file, asked, secretFile, written };
}

interface Scene {
  readonly models?: readonly string[];
  readonly bot?: boolean;
  readonly answers?: readonly string[];
}

test("flags make a commented configuration with a good model of the list, a channel, an owner, and the key in a private file", async () => {
  await using fx = await world();
  const [key, bot] = [await fx.secretFile("key.txt", KEY), await fx.secretFile("bot.txt", BOT)];
  const flags = [
    "--provider",
    "anthropic",
    "--key-file",
    key,
    "--telegram-token-file",
    bot,
    "--owner",
    "telegram:user:1",
  ];
  expect(await fx.run("init", ...flags)).toBe(0);
  const made = await fx.written();
  expect(made?.config).toMatchObject({
    agent: { model: "anthropic/claude-sonnet-4-5" },
    models: { keys: { anthropic: [{ file: join(fx.home, "keys/anthropic") }] } },
    roles: { owners: ["telegram:user:1"] },
  });
  expect(made?.config?.channels.telegram.botToken?.reveal()).toBe(BOT);
  expect([made?.text.includes("//"), made?.text.includes(KEY)]).toEqual([true, false]);
  expect((await readFile(join(fx.home, "keys/anthropic"), "utf8")).trim()).toBe(KEY);
  const modes = await Promise.all(
    [fx.file, join(fx.home, "keys/anthropic")].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o600, 0o600]);
  expect(fx.err()).toContain("the bot is @example");
  expect(fx.out() + fx.err()).not.toContain(KEY);
});

test("questions on a terminal lead to the same, and Enter alone takes the demo model", async () => {
  await using local = await world({ answers: ["3", "", "", "", "1"], models: ["llama3.2"] });
  expect(await local.run("init")).toBe(0);
  expect(local.asked).toMatchObject([{ kind: "endpoint", baseUrl: "http://127.0.0.1:11434/v1", key: null }]);
  expect((await local.written())?.config?.models.providers["local"]?.models).toMatchObject([{ id: "llama3.2" }]);
  await using demo = await world({ answers: ["", ""] });
  expect(await demo.run("init")).toBe(0);
  expect((await demo.written())?.config?.agent.model).toBe("gwdemo/demo");
  await using nobody = await world();
  expect(await nobody.run("init")).toBe(1);
  expect(nobody.err()).toContain("Say which model");
});

test.each([
  ["a key that is refused", { models: [] }],
  ["a bot that the platform does not know", { bot: false }],
])("%s is told, and nothing is written, unless it shall not be tried", async (_what, scene) => {
  await using fx = await world(scene);
  const [key, bot] = [await fx.secretFile("key.txt", KEY), await fx.secretFile("bot.txt", BOT)];
  const flags = ["--provider", "openai", "--key-file", key, "--model", "gpt-5", "--telegram-token-file", bot];
  expect(await fx.run("init", ...flags)).toBe(1);
  expect([await fx.written(), fx.err().includes("broken:")]).toEqual([null, true]);
  expect(await Bun.file(join(fx.home, "keys/openai")).exists()).toBe(false);
  expect(await fx.run("init", ...flags, "--no-test")).toBe(0);
  expect((await fx.written())?.config?.agent.model).toBe("openai/gpt-5");
});

test("a configuration that is there is replaced only when the person says so, and a copy is kept", async () => {
  const OWN = `{ "gateway": { "port": 4711 } }\n`;
  await using fx = await world({ answers: ["n", "y"] });
  await writeFile(fx.file, OWN);
  expect(await fx.run("init", "--demo")).toBe(1);
  expect(await readFile(fx.file, "utf8")).toBe(OWN);
  expect(await fx.run("init", "--demo")).toBe(0);
  await using script = await world();
  await writeFile(script.file, OWN);
  expect(await script.run("init", "--demo")).toBe(1);
  expect(await script.run("init", "--demo", "--replace", "--json")).toBe(0);
  expect((await script.written())?.config?.agent.model).toBe("gwdemo/demo");
  const copies = [...new Bun.Glob("pi-gateway.jsonc*").scanSync(script.home)].filter(
    (name) => name !== "pi-gateway.jsonc",
  );
  expect(await Promise.all(copies.map((name) => readFile(join(script.home, name), "utf8")))).toEqual([OWN]);
});

test("a model server is asked for its models for real, and one that refuses the key is not written", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      request.headers.get("authorization") === `Bearer ${KEY}`
        ? Response.json({ data: [{ id: "house-model" }] })
        : new Response("", { status: 401 }),
  });
  await using fx = await cliFixture();
  const endpoint = `http://127.0.0.1:${server.port}/v1/`;
  expect(await fx.run("init", "--endpoint", endpoint)).toBe(1);
  expect(fx.err()).toContain("refuses this key (401)");
  await writeFile(join(fx.home, "key.txt"), KEY);
  expect(await fx.run("init", "--endpoint", endpoint, "--key-file", join(fx.home, "key.txt"))).toBe(0);
  expect(await readFile(join(fx.home, "pi-gateway.jsonc"), "utf8")).toContain('"house-model"');
  expect(await fx.run("init", "--pi-login", join(fx.home, "nowhere"), "--replace")).toBe(1);
  expect(fx.err()).toContain("There is no login");
});
