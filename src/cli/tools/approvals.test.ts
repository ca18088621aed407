/** The owner's word from a terminal. */
import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";

const QUESTION = {
  id: "ask_1",
  tool: "bash",
  because: "it may do anything",
  principal: "operator",

  sessionKey: "agent:default:webchat:dm:1",
  expiresAt: 0,
  input: { command: `rm \u202e\u200b${"x".repeat(5_000)}` },
};

test("list shows each question whole, with hidden characters written out", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, () => Response.json({ items: [QUESTION] }));
  expect(await fx.run("approvals", "list")).toBe(0);
  expect(fx.out()).toBe(
    `ask_1  bash for operator in agent:default:webchat:dm:1, because it may do anything (0 min left)\n{\n  "command": "rm \\u202e\\u200b${"x".repeat(5_000)}"\n}\n\n`,
  );
});

test("list says so when nothing waits", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, () => Response.json({ items: [] }));
  expect(await fx.run("approvals", "list")).toBe(0);
  expect(fx.out()).toBe("No tool call waits for approval.\n");
});

test("decide sends one of three answers and nothing else", async () => {
  await using fx = await cliFixture();
  const seen: unknown[] = [];
  await using _gateway = await fakeGateway(fx.home, async (request, url) => {
    seen.push([url.pathname, await request.json()]);
    return Response.json({ decision: "once" });
  });
  expect(await fx.run("approvals", "decide", "ask_1", "once")).toBe(0);
  expect([fx.out(), seen]).toEqual(["once\n", [["/api/approvals/ask_1", { decision: "once" }]]]);
  expect(await fx.run("approvals", "decide", "ask_1", "yes")).toBe(1);
  expect(seen).toHaveLength(1);
});
