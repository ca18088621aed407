/** Answers to questions over the port: only from the operator, only known words, only once. */
import { describe, expect, test } from "bun:test";
import type { SessionKey, TurnId, Principal } from "../../contracts/ids.ts";
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

  test.each([{}, { decision: "yes" }, { decision: "expired" }, { decision: "once", by: "anna" }, "once"])(
    "refuses %j",
    async (body) => {
      await using at = world();
      expect((await at.postJson("/api/approvals/ask_1", body)).status).toBeGreaterThanOrEqual(400);
      expect(at.decided).toEqual([]);
    },
  );

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
