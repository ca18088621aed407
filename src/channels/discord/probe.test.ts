/** What `pi-gw doctor` says about a bot. */
import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { cliFixture } from "../../testing/cli-fixture.ts";
import { systemProbes } from "../../cli/doctor/probes.ts";
import { type FakeDiscord, startFakeDiscord } from "../../testing/discord/fake-discord.ts";
import { BOT_TOKEN, PLACES } from "../../testing/discord/fake-people.ts";
import { checkDiscord } from "./index.ts";

const NEVER = new AbortController().signal;
let fake: FakeDiscord;
afterEach(() => fake?.[Symbol.asyncDispose]());
const start = async () => {
  fake = await startFakeDiscord({ now: () => systemClock.now() });
};

describe("a bot", () => {
  test("whose settings are right is named", async () => {
    await start();
    const check = await checkDiscord({ token: secret(BOT_TOKEN), apiRoot: fake.apiRoot }, NEVER);
    expect(check).toEqual({ state: "ok", isKnown: true, say: "signed in as pi" });
  });

  test("that may not read messages is told what to switch on", async () => {
    await start();
    fake.state.application.flags = 0;
    const check = await checkDiscord({ token: secret(BOT_TOKEN), apiRoot: fake.apiRoot }, NEVER);
    expect(check).toMatchObject({ state: "broken", say: expect.stringContaining("Message Content Intent") });
  });

  test("that is not in a server it is to answer in, or may not do there what it needs, is told what to change", async () => {
    await start();
    const check = (guilds: readonly string[]) =>
      checkDiscord({ token: secret(BOT_TOKEN), apiRoot: fake.apiRoot, guilds }, NEVER);
    expect((await check([PLACES.guild])).state).toBe("ok");
    const elsewhere = await check(["500000000000000099"]);
    expect(elsewhere).toEqual({
      state: "note",
      isKnown: true,
      say: expect.stringContaining("not in the server 500000000000000099"),
    });
    fake.state.memberships.splice(0, 1, { id: PLACES.guild, permissions: String((1n << 10n) | (1n << 11n)) });
    const { say } = await check([PLACES.guild]);
    expect(say).toContain("lacks: Attach Files, Read Message History.");
    fake.state.memberships.splice(0, 1, { id: PLACES.guild, permissions: String(1n << 3n) }); // an administrator
    expect((await check([PLACES.guild])).state).toBe("ok");
  });

  test("with a wrong token is told where the right one goes", async () => {
    await start();
    const check = await checkDiscord({ token: secret("wrong"), apiRoot: fake.apiRoot }, NEVER);
    expect(check).toMatchObject({ state: "broken", say: expect.stringContaining("channels.discord.token") });
  });

  test("whose Discord cannot be reached may still be right", async () => {
    const check = await checkDiscord({ token: secret(BOT_TOKEN), apiRoot: "http://127.0.0.1:9/api" }, NEVER);
    expect(check.state).toBe("note");
  });

  test("is looked at by doctor, and only when there is one", async () => {
    await start();
    const probes = {
      bunVersion: "1.4.4",
      pi: async () => ({ ok: true, say: "found" }),
      sandbox: async () => ({ tier: "full", because: "", leaks: [], advice: null }),
      freeBytes: async () => null,
      portIsFree: () => true,
      discord: systemProbes.discord,
    };
    await using without = await cliFixture({ doctorProbes: probes as typeof systemProbes });
    await without.run("doctor");
    expect(without.out()).not.toContain("discord");
    await using having = await cliFixture({ doctorProbes: probes as typeof systemProbes });
    const channels = { discord: { token: BOT_TOKEN, apiRoot: fake.apiRoot } };
    await Bun.write(`${having.home}/pi-gateway.jsonc`, JSON.stringify({ channels }));
    await having.run("doctor");
    expect(having.out()).toMatch(/ok +discord +signed in as pi/);
  });

  test.each([
    ["telegram", { groups: { "-1001": {} } }, "Send /newbot to @BotFather"],
    ["discord", { guilds: { "500000000000000099": {} } }, "Bot page of Discord's developer portal"],
  ] as const)("on %s without a token is told where to get one", async (name, section, words) => {
    const { discord, telegram } = systemProbes;
    const probes = {
      bunVersion: "1.4.4",
      pi: async () => ({ ok: true, say: "found" }),
      sandbox: async () => ({ tier: "full", because: "", leaks: [], advice: null }),
      freeBytes: async () => null,
      portIsFree: () => true,
      discord,
      telegram,
    };
    await using world = await cliFixture({ doctorProbes: probes as typeof systemProbes });
    await Bun.write(`${world.home}/pi-gateway.jsonc`, JSON.stringify({ channels: { [name]: section } }));
    await world.run("doctor");
    expect(world.out()).toMatch(new RegExp(`broken +${name} `));
    expect(world.out()).toContain(words);
    const other = name === "telegram" ? "discord" : "telegram";
    expect(world.out()).not.toMatch(new RegExp(`^\\w+ +${other} `, "m"));
  });
});
