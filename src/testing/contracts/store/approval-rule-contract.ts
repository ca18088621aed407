/** What every store promises about approval rules: made with their approval or not at all, counted when used, and gone when removed. */
import { describe, expect, test } from "bun:test";
import type { AgentId, Principal } from "../../../contracts/ids.ts";
import type { NewApprovalRule, RuleUse } from "../../../contracts/store/approval-rules.ts";
import { question } from "./approval-contract.ts";
import { AGENT, OPERATOR, sessionKey, type StoreWorld } from "./store-world.ts";

export function storedRule(id: string, more: Partial<NewApprovalRule> = {}): NewApprovalRule {
  return {
    id,
    tool: "bash",
    agentId: AGENT,
    principal: OPERATOR,
    origins: ["chat"],
    because: "it may do anything",
    reach: "call",
    value: `digest-${id}`,
    says: "exactly this command",
    shown: `{"command":"ls ${id}"}`,
    approvalId: `ask-${id}`,
    callHash: `hash-${id}`,
    madeBy: OPERATOR,
    madeAt: 1_000,
    expiresAt: 9_000,
    ...more,
  };
}

const CALL = { tool: "bash", agentId: AGENT, principal: OPERATOR };
const USE: RuleUse = { at: 2_000, callId: "c1", callHash: "h1", sessionKey: sessionKey("a") };
const MANY = 100;

async function made({ store }: StoreWorld, rule: NewApprovalRule, max = MANY): Promise<string> {
  await store.approvals.put(question(rule.approvalId));
  return store.approvals.endWithRule(rule.approvalId, rule, max);
}

export function approvalRuleContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    makingPromises(open);
    usePromises(open);
    removalPromises(open);
  });
}

function makingPromises(open: () => Promise<StoreWorld>): void {
  test("a rule is made with the end of its approval, over a restart", async () => {
    await using world = await open();
    expect(await made(world, storedRule("one"))).toBe("ended");
    const store = await world.reopen();
    expect((await store.approvalRules.list(2_000, { limit: 5 })).items).toEqual([
      { ...storedRule("one"), lastUsedAt: null, uses: 0 },
    ]);
    expect((await store.approvals.ended({ limit: 5 })).items).toMatchObject([
      { id: "ask-one", decision: "always", decidedBy: OPERATOR, decidedAt: 1_000 },
    ]);
    expect((await store.audit.list({ limit: 1 }, "approval.ended")).items[0]?.detail).toEqual({
      tool: "echo",
      sessionKey: sessionKey("a"),
      decision: "always",
      rule: "one",
      reach: "call",
    });
  });

  test("an approval that is over makes no rule", async () => {
    await using world = await open();
    const { approvals, approvalRules } = world.store;
    await approvals.put(question("ask-one"));
    await approvals.end("ask-one", { decision: "deny", by: OPERATOR, at: 1_000 });
    expect(await approvals.endWithRule("ask-one", storedRule("one"), MANY)).toBe("over");
    expect(await approvalRules.of(CALL, 2_000)).toEqual([]);
  });

  test("an agent that has as many rules as it may have gets no more, and the approval stays open; rules that ended do not count", async () => {
    await using world = await open();
    await made(world, storedRule("old", { expiresAt: 1_000 }), 1);
    expect(await made(world, storedRule("one"), 1)).toBe("ended");
    expect(await made(world, storedRule("two"), 1)).toBe("full");
    expect(await made(world, storedRule("other", { agentId: "papers" as AgentId }), 1)).toBe("ended");
    expect(await world.store.approvals.end("ask-two", { decision: "once", by: OPERATOR, at: 1_100 })).toBe(true);
    expect((await world.store.approvalRules.of(CALL, 2_000)).map(({ id }) => id)).toEqual(["one"]);
  });

  test("the same rule made again is one rule with a later end, also where there is room for no other", async () => {
    await using world = await open();
    await made(world, storedRule("one"), 1);
    await world.store.approvalRules.use("one", USE);
    const again = { approvalId: "ask-two", madeAt: 3_000, expiresAt: 12_000, value: "digest-one" };
    expect(await made(world, storedRule("two", again), 1)).toBe("ended");
    expect((await world.store.approvalRules.list(2_000, { limit: 5 })).items).toMatchObject([
      { id: "one", approvalId: "ask-two", madeAt: 3_000, expiresAt: 12_000, uses: 1 },
    ]);
    expect((await world.store.audit.list({ limit: 1 }, "approval.ended")).items[0]?.detail["rule"]).toBe("one");
  });
}

function usePromises(open: () => Promise<StoreWorld>): void {
  test("rules are found by person, agent and tool, until their time is over", async () => {
    await using world = await open();
    await made(world, storedRule("one"));
    await made(world, storedRule("two", { expiresAt: 3_000 }));
    const { approvalRules } = world.store;
    const found = async (more: Partial<typeof CALL>, at = 2_000) =>
      (await approvalRules.of({ ...CALL, ...more }, at)).map(({ id }) => id).toSorted();
    expect(await found({})).toEqual(["one", "two"]);
    expect(await found({}, 3_000)).toEqual(["one"]);
    expect(await found({ tool: "BASH" })).toEqual([]);
    expect(await found({ agentId: "papers" as AgentId })).toEqual([]);
    expect(await found({ principal: "telegram:user:7" as Principal })).toEqual([]);
  });

  test("each use is counted and leaves an audit entry that names the rule and the call; a rule whose time is over is not used", async () => {
    await using world = await open();
    await made(world, storedRule("one"));
    const { approvalRules, audit } = world.store;
    expect(await approvalRules.use("one", USE)).toBe(true);
    expect(await approvalRules.use("one", { ...USE, at: 2_500 })).toBe(true);
    expect(await approvalRules.use("one", { ...USE, at: 9_000 })).toBe(false);
    expect(await approvalRules.use("none", USE)).toBe(false);
    expect(await approvalRules.of(CALL, 3_000)).toMatchObject([{ lastUsedAt: 2_500, uses: 2 }]);
    const { items } = await audit.list({ limit: 5 }, "rule.used");
    expect(items.map(({ at }) => at)).toEqual([2_500, 2_000]);
    expect(items[0]).toMatchObject({
      actor: OPERATOR,
      subject: "one",
      detail: { tool: "bash", sessionKey: sessionKey("a"), callId: "c1", callHash: "h1" },
    });
  });
}

function removalPromises(open: () => Promise<StoreWorld>): void {
  test("a rule that one gateway removed allows nothing at another one, and its removal is on record once", async () => {
    await using world = await open();
    const other = await world.openSecond();
    await made(world, storedRule("one"));
    expect(await other.approvalRules.of(CALL, 2_000)).toHaveLength(1);
    const removed = await Promise.all(
      [world.store, other].map(({ approvalRules }) => approvalRules.remove("one", OPERATOR, 2_000)),
    );
    expect(removed.toSorted()).toEqual([false, true]);
    expect([await other.approvalRules.use("one", USE), await other.approvalRules.of(CALL, 2_000)]).toEqual([false, []]);
    expect((await world.store.audit.list({ limit: 5 }, "rule.removed")).items).toMatchObject([
      { actor: OPERATOR, subject: "one", at: 2_000 },
    ]);
  });

  test("rules are listed page by page, and those that ended long ago can be taken away", async () => {
    await using world = await open();
    for (const [at, id] of ["a", "b", "c"].entries()) await made(world, storedRule(id, { expiresAt: 5_000 + at }));
    const { approvalRules } = world.store;
    const first = await approvalRules.list(2_000, { limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(["c", "b"]);
    const second = await approvalRules.list(2_000, { limit: 2, cursor: first.next ?? "" });
    expect([second.items.map(({ id }) => id), second.next]).toEqual([["a"], undefined]);
    expect([await approvalRules.prune(5_002), await approvalRules.prune(5_002)]).toEqual([2, 0]);
    expect((await approvalRules.list(2_000, { limit: 5 })).items.map(({ id }) => id)).toEqual(["c"]);
  });
}
