import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const CONFIG = {
  agents: [{ id: "research" }, { id: "family", role: "guest" }],
  bindings: [
    { agent: "family", channel: "telegram" },
    { agent: "research", peer: "telegram:user:1" },
    { agent: "default", channel: "discord" },
  ],
  roles: { owners: ["telegram:user:1"] },
};

async function routed(...argv: string[]) {
  await using fx = await cliFixture();
  await Bun.write(join(fx.home, "pi-gateway.jsonc"), JSON.stringify(CONFIG));
  const code = await fx.run("route", ...argv);
  return { code, out: fx.out(), err: fx.err() };
}

describe("pi-gw route", () => {
  test("says where a message would go, without a running gateway", async () => {
    const { code, out } = await routed("--channel", "telegram", "--account", "a", "--peer", "telegram:user:1");
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "from      the configuration file, because no gateway answers here; who got access by a code, and roles given in chats, are not known there",
        "agent     research",
        "session   agent:research:telegram:dm:1",
        "role      owner",
        "priority  10",
        "",
      ].join("\n"),
    );
  });

  test("--explain names every rule with its reason", async () => {
    const { out } = await routed("--explain", "--channel", "telegram", "--chat", "1", "--peer", "telegram:user:1");
    expect(out.split("\n").slice(5, -1)).toEqual([
      "because   owner: roles.owners lists this id",
      "because   agent research: bindings[1] fits by peer, and nothing fits more exactly",
      "because   session: session.dmScope is per-channel-peer",
      "rule      loses bindings[0] → family: fits by channel, but bindings[1] fits by peer",
      "rule      wins bindings[1] → research: fits by peer, and nothing fits more exactly",
      'rule      loses bindings[2] → default: channel is "telegram", not "discord"',
    ]);
  });

  test("--json says the same to programs", async () => {
    const { out } = await routed("--json", "--explain");
    expect(JSON.parse(out)).toMatchObject({
      source: "file",
      accepted: true,
      agent: "default",
      sessionKey: "agent:default:api:dm:operator",
      role: "owner",
      priority: 10,
      bindings: [{ wins: false }, { wins: false }, { wins: false }],
    });
  });

  test("says who is refused, and whether they would hear of it", async () => {
    const stranger = await routed("--channel", "telegram", "--peer", "telegram:user:9");
    expect(stranger.out).toContain("\nrefused   not_paired: ");
    const group = await routed(
      "--channel",
      "telegram",
      "--peer",
      "telegram:user:1",
      "--scope",
      "group",
      "--chat",
      "-5",
    );
    expect(group.out).toContain("The sender gets no answer.");
    const json = await routed("--json", "--channel", "telegram", "--peer", "Ann");
    expect(JSON.parse(json.out)).toMatchObject({ accepted: false, because: "not_a_person" });
  });

  test("asks the running gateway first, and says so", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), JSON.stringify(CONFIG));
    const asked: unknown[] = [];
    await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
      asked.push(pathname, await request.json());
      const found = { agentId: "paired", sessionKey: "agent:paired:telegram:dm:9", role: "member", priority: 10 };
      return Response.json({ verdict: { kind: "accept", ...found, because: ["a code"] }, considered: [] });
    });
    expect(await fx.run("route", "--channel", "telegram", "--peer", "telegram:user:9")).toBe(0);
    expect(asked).toEqual([
      "/api/route",
      {
        channel: "telegram",
        account: "default",
        chat: "9",
        peer: "telegram:user:9",
        scope: "dm",
        mentioned: true,
      },
    ]);
    expect(fx.out()).toMatch(
      /^from      the running gateway at http\S+\nagent     paired\nsession   agent:paired:telegram:dm:9\n/,
    );
  });

  test("reads the file when the gateway that left its note is gone, and when --config names one", async () => {
    await using fx = await cliFixture();
    await Bun.write(join(fx.home, "pi-gateway.jsonc"), JSON.stringify(CONFIG));
    await (await fakeGateway(fx.home, () => new Response("")))[Symbol.asyncDispose]();
    expect(await fx.run("route", "--peer", "telegram:user:1", "--channel", "telegram")).toBe(0);
    expect(fx.out()).toStartWith("from      the configuration file, because no gateway answers here");
    await using _gateway = await fakeGateway(fx.home, () => new Response("never asked", { status: 500 }));
    const file = join(fx.home, "pi-gateway.jsonc");
    expect(await fx.run("route", "--config", file, "--json")).toBe(0);
    expect(fx.out()).toContain('{"source":"file"');
  });

  test("asks for what it needs", async () => {
    const group = await routed("--scope", "group", "--peer", "telegram:user:1");
    expect([group.code, group.err]).toEqual([1, "Name the group with --chat.\n"]);
    const odd = await routed("--scope", "room");
    expect([odd.code, odd.err.includes("dm, group")]).toEqual([1, true]);
  });
});
