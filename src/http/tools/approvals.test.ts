/** Answers to questions over the port: only from the operator, only known words, only once. */
import { describe, expect, test } from "bun:test";
import type { SessionKey, TurnId, Principal } from "../../contracts/ids.ts";
import type { ApprovalRule, ApprovalRules } from "../../contracts/tools/approval-rule.ts";
import type { Approvals, PendingApproval } from "../../contracts/tools/approval.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { agentTokens, expectOperatorOnly } from "../../testing/http/not-the-operator.ts";
import { openWs } from "../../testing/http/ws-client.ts";

const OPEN: PendingApproval = {
  id: "ask_1",
  tool: "bash",
  callId: "c1",
  because: "it may do anything",
  input: { command: "ls" },
  shown: "ls",
  sessionKey: "agent:default:webchat:dm:1" as SessionKey,
  turnId: "t1" as TurnId,
  principal: "operator" as Principal,
  origin: { channel: "webchat", account: "default", chat: "1" },
  askedAt: 1,
  expiresAt: 2,
};

const BAD_RULES = [{ decision: "always", rule: "everything" }, { decision: "once", rule: "call" }, { rule: "call" }];

function world() {
  const decided: Parameters<Approvals["decide"]>[] = [];
  const approvals: Pick<Approvals, "pending" | "decide"> = {
    pending: () => [OPEN],
    async decide(...asked) {
      if (decided.length > 0 || asked[0] !== OPEN.id) return "unknown";
      decided.push(asked);
      return "done";
    },
  };
  return Object.assign(startHttpWorld({}, { tools: { approvals, agentTokens } }), { decided });
}

describe("GET /api/approvals", () => {
  test("lists the open questions whole, and the ended ones when asked for", async () => {
    await using at = world();
    expect(await (await at.call("/api/approvals")).json()).toEqual({ items: [OPEN] });
    expect(await (await at.call("/api/approvals?state=ended&limit=5")).json()).toEqual({ items: [] });
    expect((await at.call("/api/approvals?state=all")).status).toBe(422);
  });
});

describe("POST /api/approvals/:id", () => {
  test("answers a question once, as the one who is signed in", async () => {
    await using at = world();
    const first = await at.postJson("/api/approvals/ask_1", { decision: "session" });
    expect([first.status, await first.json()]).toEqual([200, { decision: "session" }]);
    expect(at.decided).toEqual([["ask_1", "session", "operator" as Principal]]);
    const again = await at.postJson("/api/approvals/ask_1", { decision: "deny" });
    expect([again.status, await again.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  });

  test.each([{}, { decision: "yes" }, { decision: "expired" }, { decision: "once", by: "anna" }, "once", ...BAD_RULES])(
    "refuses %j",
    async (body) => {
      await using at = world();
      expect((await at.postJson("/api/approvals/ask_1", body)).status).toBeGreaterThanOrEqual(400);
      expect(at.decided).toEqual([]);
    },
  );

  test("makes a rule of exactly this call for always, or one that goes further when that is said", async () => {
    await using one = world();
    const first = await one.postJson("/api/approvals/ask_1", { decision: "always" });
    expect([first.status, await first.json()]).toEqual([200, { decision: "always" }]);
    await using other = world();
    await other.postJson("/api/approvals/ask_1", { decision: "always", rule: "program" });
    expect([one.decided[0]?.[1], other.decided[0]?.[1]]).toEqual([{ always: "call" }, { always: "program" }]);
  });

  test.each(["no_such_rule", "too_many_rules"] as const)("says %s where no rule was made", async (code) => {
    const approvals = { pending: () => [OPEN], decide: async () => code };
    await using at = startHttpWorld({}, { tools: { approvals, agentTokens } });
    const answer = await at.postJson("/api/approvals/ask_1", { decision: "always", rule: "folder" });
    expect([answer.status, await answer.json()]).toMatchObject([
      code === "no_such_rule" ? 422 : 409,
      { error: { code } },
    ]);
  });

  test("is not for strangers, and not for the agent that asks", async () => {
    await using at = world();
    await expectOperatorOnly(at, { list: "/api/approvals", one: "/api/approvals/ask_1", body: { decision: "once" } });
    expect(at.decided).toEqual([]);
  });
});

test("the socket lists and answers in the same way, and tells of both ends of a question", async () => {
  await using at = world();
  using client = await openWs(at);
  await client.ask("subscribe", { events: ["approval"] });
  expect(await client.ask("approvals.list", {})).toEqual({ items: [OPEN] });
  at.deps.events.emit("approval", { ...OPEN, decision: null });
  expect(await client.ask("approvals.decide", { id: "ask_1", decision: "deny" })).toEqual({ decision: "deny" });
  expect(at.decided).toEqual([["ask_1", "deny", "operator" as Principal]]);
  await expect(client.ask("approvals.decide", { id: "ask_1", decision: "once" })).rejects.toThrow("not_found");
  expect(client.events.map(({ event, data }) => [event, data["decision"]])).toEqual([["approval", null]]);
});

describe("approval rules", () => {
  const RULE = { id: "rule_1", tool: "bash", says: "every git command" };
  function rulesWorld() {
    const removed: unknown[] = [];
    const approvalRules: ApprovalRules = {
      list: async ({ limit }) => ({ items: [RULE as ApprovalRule], next: `after ${limit}` }),
      async remove(id, by) {
        if (id !== RULE.id) return false;
        removed.push([id, by]);
        return true;
      },
    };
    return Object.assign(startHttpWorld({}, { tools: { approvalRules, agentTokens } }), { removed });
  }

  test("are listed page by page, and one is removed in the name of who is signed in", async () => {
    await using at = rulesWorld();
    expect(await (await at.call("/api/approval-rules?limit=7")).json()).toEqual({ items: [RULE], next: "after 7" });
    const gone = await at.call("/api/approval-rules/rule_1", { method: "DELETE" });
    expect([gone.status, await gone.json(), at.removed]).toEqual([200, { removed: true }, [["rule_1", "operator"]]]);
    const none = await at.call("/api/approval-rules/rule_2", { method: "DELETE" });
    expect([none.status, await none.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  });

  test("are not for strangers and agents, to read or to remove", async () => {
    await using at = rulesWorld();
    for (const [authorization, status] of [
      ["Bearer wrong", 401],
      ["Bearer the-agent", 403],
    ] as const) {
      const headers = { authorization };
      expect((await at.call("/api/approval-rules", { headers })).status).toBe(status);
      expect((await at.call("/api/approval-rules/rule_1", { method: "DELETE", headers })).status).toBe(status);
    }
    expect(at.removed).toEqual([]);
  });
});
