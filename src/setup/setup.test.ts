/** What `pi-gw init` and the web console share: settings with comments, tries that say what went wrong, and the four checks. */
import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkConfigText, defaultConfig, editText, FIRST_TEXT } from "../config/index.ts";
import type { ChannelWish, ModelWish, SetupWishes } from "../contracts/setup.ts";
import type { BackupReport } from "../contracts/wire.ts";
import { systemClock } from "../kit/clock.ts";
import { secret } from "../kit/secret.ts";
import { startFakeDiscord } from "../testing/discord/fake-discord.ts";
import { BOT_TOKEN } from "../testing/discord/fake-people.ts";
import { STATUS } from "../testing/http/test-status.ts";
import { startFakeBotApi } from "../testing/telegram/fake-bot-api.ts";
import { tempHome } from "../testing/temp-home.ts";
import { modelChosen, setupChecks, setupEdits, testChannel, testModel } from "./index.ts";

const NEVER = new AbortController().signal;
const KEY = secret("sk-key-of-a-test");
const NOTHING: SetupWishes = { model: null, channel: null, owners: [], backup: false };

/** The file after these steps, one after the other, as a person takes them. */
function fileAfter(first: string, ...steps: readonly Partial<SetupWishes>[]) {
  let text = first;
  for (const step of steps) {
    const wishes = { ...NOTHING, ...step };
    const config = checkConfigText(text, () => undefined).config ?? defaultConfig();
    const modelId = modelChosen(wishes.model, ["zeta", "llama3"]);
    text = editText(text, setupEdits(wishes, { modelId, keyFile: "/keys/openai", config }));
  }
  const { config, problems } = checkConfigText(text, () => undefined);
  expect(problems).toEqual([]);
  return { text, config };
}

const KEY_WISH: ModelWish = { kind: "key", provider: "openai", key: KEY, model: null };
const SERVER: ModelWish = { kind: "endpoint", baseUrl: "http://127.0.0.1:1/v1", key: null, model: null };
const BOT: ChannelWish = { channel: "telegram", token: secret("1:bot") };

describe("the settings of a setup", () => {
  test("have a comment above each section that is new, and every step can be taken later", () => {
    const { text, config } = fileAfter(
      FIRST_TEXT,
      { model: { kind: "demo" } },
      { channel: BOT },
      { owners: ["telegram:user:1"] },
      { backup: true },
      { owners: ["telegram:user:2", "telegram:user:1"] },
      { model: KEY_WISH },
    );
    expect(config).toMatchObject({
      agent: { model: "openai/llama3" },
      models: { keys: { openai: [{ file: "/keys/openai" }] } },
      roles: { owners: ["telegram:user:1", "telegram:user:2"] },
      backup: { every: 86_400_000 },
    });
    const sections = [...text.matchAll(/^ {2}\/\/ .+\n {2}"(\w+)": /gm)].map(([, name]) => name);
    expect(sections).toEqual(["agent", "channels", "roles", "backup", "models"]);
    expect(text).not.toContain(KEY.reveal());
  });

  test("leave what a person wrote where it is, and give a second server another name", () => {
    const own = `{\n  // mine\n  "agent": { "thinking": "low" }, // and why\n  "models": { "providers": { "local": { "baseUrl": "http://10.0.0.1/v1", "models": [{ "id": "a" }] } } }\n}\n`;
    const { text, config } = fileAfter(own, { model: SERVER });
    expect(Object.keys(config?.models.providers ?? {})).toEqual(["local", "local-2"]);
    expect(config?.agent).toMatchObject({ model: "local-2/llama3", thinking: "low" });
    expect([text.includes("// mine"), text.includes("// and why"), text.includes("Which model")]).toEqual([
      true,
      true,
      false,
    ]);
    const again = fileAfter(text, { model: SERVER });
    expect(Object.keys(again.config?.models.providers ?? {})).toEqual(["local", "local-2"]);
    const login = fileAfter(text, { model: { kind: "login", folder: "~/.pi/agent" } }).config?.agent;
    expect([login?.agentDir, login?.model]).toEqual(["~/.pi/agent", undefined]);
  });

  test("of a file in one line have no comment, which would take the rest of it", () => {
    expect(fileAfter(`{ "logging": { "level": "info" } }`, { backup: true }).config?.backup.every).toBe(86_400_000);
    expect(() => modelChosen(SERVER, [])).toThrow();
  });
});

describe("a try", () => {
  const deps = { clock: systemClock, logins: { userHome: "/home/nobody", folder: "/" } };
  const tryModel = (wish: ModelWish) => testModel(deps, wish, NEVER);

  test("of a model server names what it lists, and says when the address is none, or nobody is there", async () => {
    using server = Bun.serve({ port: 0, fetch: () => Response.json({ data: [{ id: "llama3" }] }) });
    const there = { ...SERVER, baseUrl: `http://127.0.0.1:${server.port}/v1` } as const;
    expect(await tryModel(there)).toMatchObject({ ok: true, models: ["llama3"] });
    expect((await tryModel({ ...there, model: "other" })).say).toContain("but not other.");
    expect(await tryModel(SERVER)).toMatchObject({ ok: false, say: expect.stringContaining("cannot be reached") });
    for (const baseUrl of ["localhost:11434", "file:///etc/passwd", "nonsense"])
      expect(await tryModel({ ...SERVER, baseUrl })).toMatchObject({
        ok: false,
        say: expect.stringContaining("no address of a server"),
      });
  });

  test("of a pi login names the providers, and says where none is", async () => {
    await using home = await tempHome();
    const login = { kind: "login", folder: home.path } as const;
    expect(await tryModel(login)).toMatchObject({ ok: false, say: expect.stringContaining("There is no login at") });
    for (const empty of ["{}", "half {"]) {
      await writeFile(join(home.path, "auth.json"), empty);
      expect(await tryModel(login)).toMatchObject({ ok: false, say: expect.stringContaining("holds no login") });
    }
    await writeFile(join(home.path, "auth.json"), `{ "anthropic": { "type": "oauth" } }`);
    expect(await tryModel(login)).toMatchObject({ ok: true, say: expect.stringContaining("for anthropic in") });
  });

  test("of a bot names it, and says when the platform refuses its token or cannot be reached", async () => {
    await using telegram = await startFakeBotApi();
    await using discord = await startFakeDiscord({ now: () => systemClock.now() });
    const { channels } = defaultConfig();
    const at = (apiRoot: string, discordRoot: string) => ({
      telegram: { ...channels.telegram, apiRoot },
      discord: { ...channels.discord, apiRoot: discordRoot },
    });
    const here = at(telegram.apiRoot, discord.apiRoot);
    const tryBot = (wish: ChannelWish, where = here) => testChannel(deps, wish, where, NEVER);
    expect(await tryBot(BOT)).toMatchObject({ ok: true, say: expect.stringMatching(/^@\w+ answers/) });
    telegram.misbehave("getMe", { kind: "refused", code: 401, description: "Unauthorized" });
    expect(await tryBot(BOT)).toMatchObject({
      ok: false,
      say: expect.stringContaining("does not know this bot token"),
    });
    const nowhere = at("http://127.0.0.1:1", "http://127.0.0.1:1/api");
    expect(await tryBot(BOT, nowhere)).toMatchObject({ ok: false, say: expect.stringContaining("cannot be reached") });
    const bot = { channel: "discord", token: secret(BOT_TOKEN) } as const;
    expect(await tryBot(bot)).toEqual({ ok: true, say: "Signed in as pi.", models: [] });
    expect(await tryBot({ ...bot, token: secret("wrong") })).toMatchObject({ ok: false });
    expect(await tryBot(bot, nowhere)).toMatchObject({ ok: false, say: expect.stringContaining("could not be asked") });
  });
});

describe("the checks of a setup", () => {
  const backup: BackupReport = { everyMs: null, folder: "/b", newestAt: null, failure: null };
  const bare = {
    ...STATUS,
    model: { name: "gwdemo/demo", demo: true },
    channels: [{ id: "webchat", ok: true, detail: "" }],
    backup,
    notifiedBrowsers: 0 as number | null,
    isOwnChannel: (id: string) => id === "webchat",
  };
  const done = (facts: Partial<typeof bare>) =>
    setupChecks({ ...bare, ...facts }).flatMap((check) => (check.done ? [check.check] : []));

  test("are open in a gateway that nobody has set up, and each says what to do", () => {
    expect(done({})).toEqual([]);
    expect(setupChecks(bare).map(({ check }) => check)).toEqual(["model", "channel", "notifications", "backup"]);
  });

  test("are done when it is true: a real model, a channel that is connected, a backup or a schedule", () => {
    const real = { name: "openai/gpt-5", demo: false };
    expect(done({ model: real, backup: { ...backup, newestAt: 5 } })).toEqual(["model", "backup"]);
    expect(done({ model: real, agentTrouble: "pi was not found." })).toEqual([]);
    expect(done({ channels: [...bare.channels, { id: "telegram", ok: true, detail: "" }] })).toEqual(["channel"]);
    expect(done({ channels: [...bare.channels, { id: "telegram", ok: false, detail: "no" }] })).toEqual([]);
    expect(done({ backup: { ...backup, everyMs: 1 } })).toEqual(["backup"]);
    expect([done({ notifiedBrowsers: null }), done({ notifiedBrowsers: 2 })]).toEqual([[], ["notifications"]]);
    expect(done({ backup: { ...backup, everyMs: 1, failure: "the disk is full" } })).toEqual([]);
  });
});
