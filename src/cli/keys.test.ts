import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const key = (more: object = {}) => ({
  id: "key-1",
  name: "Home\u001b[2J",
  scopes: ["chat", "read"],
  agents: ["*"],
  tools: ["*"],
  lastUsedAt: null,
  expiresAt: null,
  ...more,
});

async function world(
  items: readonly object[] = [key(), key({ id: "key-2", agents: ["helper"], lastUsedAt: 0, expiresAt: 1 })],
) {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    const body = request.method === "POST" ? JSON.stringify(await request.json()) : "";
    asked.push(`${request.method} ${decodeURIComponent(pathname)} ${body}`.trim());
    if (request.method === "GET") return Response.json({ items });
    if (request.method === "DELETE") return Response.json({ revoked: true });
    return Response.json({ key: key(), secret: "pgw_shown-once" }, { status: 201 });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

describe("pi-gw keys", () => {
  test("add sends what the key is for and prints its secret alone, so that a file of it is a key file", async () => {
    await using fx = await world();
    const limits = ["--daily-usd", "0.5", "--daily-tokens", "1000", "--rate", "60", "--expires", "90d"];
    const lists = ["--scope", "chat", "tools", "--agent", "helper", "--tool", "notes_*", "echo"];
    expect(await fx.run("keys", "add", "Home", ...lists, ...limits)).toBe(0);
    expect(fx.asked).toEqual([
      `POST /api/keys ${JSON.stringify({
        name: "Home",
        scopes: ["chat", "tools"],
        agents: ["helper"],
        tools: ["notes_*", "echo"],
        dailyUsd: 0.5,
        dailyTokens: 1000,
        requestsPerMinute: 60,
        expiresIn: "90d",
      })}`,
    ]);
    expect([fx.out(), fx.err().includes("shown only now")]).toEqual(["pgw_shown-once\n", true]);
  });

  test("add without lists makes a key for all agents and tools", async () => {
    await using fx = await world();
    expect(await fx.run("keys", "add", "Home", "--scope", "chat")).toBe(0);
    expect(fx.asked).toEqual(['POST /api/keys {"name":"Home","scopes":["chat"]}']);
  });

  test("add without a scope, or with one that is none, asks nobody", async () => {
    await using fx = await world();
    expect(await fx.run("keys", "add", "Home")).toBe(1);
    expect(await fx.run("keys", "add", "Home", "--scope", "root")).toBe(1);
    expect(fx.asked).toEqual([]);
  });

  test("list shows scopes, agents, last use and end of each, safe for a terminal", async () => {
    await using fx = await world();
    expect(await fx.run("keys", "list")).toBe(0);
    const [head, first, second] = fx.out().split("\n");
    expect(head).toMatch(/^KEY +NAME +SCOPES +AGENTS +USED +EXPIRES$/);
    expect(first).toMatch(/^key-1 +Home\\u001b\[2J +chat,read +all +never$/);
    expect(second).toMatch(/^key-2 +\S.* +chat,read +helper +\S.* ago +expired$/);
    await using none = await world([]);
    await none.run("keys", "list");
    expect(none.out()).toStartWith("There are no keys");
  });

  test("revoke names the key by its id", async () => {
    await using fx = await world();
    expect(await fx.run("keys", "revoke", "key-1")).toBe(0);
    expect([fx.asked, fx.out()]).toEqual([
      ["DELETE /api/keys/key-1"],
      "The key is revoked. Nothing runs in its name any more.\n",
    ]);
  });
});

test.each([
  ["pgw_one\nThis is the key", "must hold one key and nothing else"],
  ["\n", "There is no key in"],
])(
  "a key file with %j is refused before an editor or MCP client is served, with the command that makes one",
  async (content, words) => {
    await using fx = await world();
    const file = join(fx.home, "key");
    writeFileSync(file, content);
    for (const command of [["acp"], ["mcp", "serve"]]) expect(await fx.run(...command, "--key-file", file)).toBe(1);
    expect([fx.err().split(words).length, fx.err().includes("pi-gw keys add NAME --scope tools chat >")]).toEqual([
      3,
      true,
    ]);
  },
);
