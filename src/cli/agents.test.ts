import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const AGENT = {
  id: "papers",
  model: null,
  modelBecause: "a key is there",
  workspace: "/w",
  skills: ["tides"],
  trouble: null,
};

test("pi-gw agents lists agents and processes, and shows one with its permissions and instructions", async () => {
  await using fx = await cliFixture();
  const asked: string[] = [];
  await using _gateway = await fakeGateway(fx.home, async (_request, { pathname, search }) => {
    asked.push(`${pathname}${search}`);
    const cells = [
      { role: "guest", origin: "chat", may: "ask", because: "x" },
      { role: "guest", origin: "cron", may: "no", because: "y" },
      { role: "owner", origin: "chat", may: "yes", because: "z" },
    ];
    const details = {
      ...AGENT,
      role: "guest",
      prompt: "You are\u001b[2J kind.",
      permissions: [{ tool: "bash", byPi: true, cells }],
    };
    const busy = {
      id: 1,
      pid: 77,
      agentId: "papers",
      state: "busy",
      sinceMs: 2_000,
      person: "operator",
      role: "owner",
    };
    return Response.json(pathname === "/api/agents" ? { items: [AGENT], processes: [busy] } : { agent: details });
  });
  expect(await fx.run("agents")).toBe(0);
  expect(fx.out()).toContain("pi chooses the model  /w");
  expect(fx.out()).toMatch(/77 +papers {2}busy for .* operator, owner/);
  expect(await fx.run("agents", "show", "papers", "--role", "guest")).toBe(0);
  expect(asked).toEqual(["/api/agents", "/api/agents/papers?role=guest"]);
  expect(fx.out()).toMatch(/bash +ask: chat; no: cron/);
  expect(fx.out()).toContain("kind.");
  expect(fx.out()).not.toContain("\u001b");
});
