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

test("decide sends one of four answers and nothing else", async () => {
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

test("list shows how far a rule may go, and decide says which", async () => {
  await using fx = await cliFixture();
  const seen: unknown[] = [];
  const rules = [
    { reach: "call", says: "exactly this command" },
    { reach: "program", says: "every git command" },
  ];
  await using _gateway = await fakeGateway(fx.home, async (request) => {
    if (request.method === "GET") return Response.json({ items: [{ ...QUESTION, input: {}, rules }] });
    seen.push(await request.json());
    return Response.json({ decision: "always" });
  });
  expect(await fx.run("approvals", "list")).toBe(0);
  expect(fx.out()).toContain("always --rule call: exactly this command\nalways --rule program: every git command\n");
  expect(await fx.run("approvals", "decide", "ask_1", "always", "--rule", "program")).toBe(0);
  expect(await fx.run("approvals", "decide", "ask_1", "always", "--rule", "everything")).toBe(1);
  expect(seen).toEqual([{ decision: "always", rule: "program" }]);
});

test("rules shows what each allows, for whom, by whom and since when, and forget removes one", async () => {
  await using fx = await cliFixture();
  const seen: string[] = [];
  const rule = {
    id: "rule_1",
    says: "every git command",
    principal: "ada",
    agentId: "papers",
    reach: "program",
    madeBy: "operator",
    madeAt: 0,
    expiresAt: fx.clock.now() + 1,
    uses: 2,
    lastUsedAt: 86_400_000,
  };
  const exact = { ...rule, id: "rule_2", reach: "call", says: "exactly this command", shown: "ls -la", uses: 0 };
  await using _gateway = await fakeGateway(fx.home, (request, url) => {
    seen.push(`${request.method} ${url.pathname}`);
    return Response.json(request.method === "GET" ? { items: [rule, exact] } : { removed: true });
  });
  expect(await fx.run("approvals", "rules")).toBe(0);
  const made = "made by operator on 1970-01-01";
  expect(fx.out().trim().split("\n")).toEqual([
    `rule_1  every git command, for ada with the agent papers; ${made}, used 2 times, last on 1970-01-02, days left: 1`,
    `rule_2  exactly this command, for ada with the agent papers; ${made}, never used, days left: 1`,
    "ls -la",
  ]);
  expect(await fx.run("approvals", "forget", "rule_1")).toBe(0);
  expect(seen).toEqual(["GET /api/approval-rules", "DELETE /api/approval-rules/rule_1"]);
});

test("rules says so when there are none", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, () => Response.json({ items: [] }));
  expect(await fx.run("approvals", "rules")).toBe(0);
  expect(fx.out()).toBe("There are no approval rules.\n");
});
