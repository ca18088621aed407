/** Rules on the way of a call, with real approvals over a real store: asked once, then not, and asked again when the rule is gone. */
import { describe, expect, test } from "bun:test";
import type { AgentId, Principal } from "../../contracts/ids.ts";
import type { AlwaysWish } from "../../contracts/tools/approval.ts";
import type { Tool, ToolOutcome, ToolRequest } from "../../contracts/tools/tool.ts";
import { realStore } from "../../testing/real-store.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createApprovals } from "../approvals.ts";
import { createApprovalRules, MAX_RULES_PER_AGENT, RULE_MS } from "./approval-rules.ts";

const ANNA = "operator" as Principal;
const EXACTLY: AlwaysWish = { always: "call" };
const NEVER = new AbortController().signal;
const ALL = { limit: 500 };

async function world(more: Partial<Tool> = {}) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const ran: unknown[] = [];
  const echo = tool(async (_id, params) => (ran.push(params), says("done")), { approval: true, ...more });
  const owners = { now: [ANNA] as readonly Principal[] };
  const given: { approvals?: ReturnType<typeof createApprovals> } = {};
  const approvals = {
    ask: (...asked: Parameters<ReturnType<typeof createApprovals>["ask"]>) => {
      if (!given.approvals) throw new Error("not made yet");
      return given.approvals.ask(...asked);
    },
    pending: () => [],
    decide: async () => "unknown" as const,
  };
  const at = toolWorld([echo], { approvals, clock });
  const { log, events } = at;
  const news: string[] = [];
  events.on("status", ({ what }) => void news.push(what));
  const rules = createApprovalRules({ clock, log, events, store: real.store.approvalRules });
  given.approvals = createApprovals(
    {
      clock,
      log,
      events,
      rules,
      ids: createSeqIds(),
      store: real.store.approvals,
      mayDecide: async (by) => owners.now.includes(by),
    },
    () => ({ waitMs: 60_000 }),
  );
  const { pending, decide } = given.approvals;
  const asked = async () => {
    await waitFor("the owner is asked", () => pending().length > 0);
    const [first] = pending();
    if (!first) throw new Error("nobody is asked");
    return first;
  };
  /** Calls, and says whether the owner was asked; then the answer is no. */
  const isAsked = async (params: unknown, request: Partial<ToolRequest> = {}): Promise<boolean> => {
    const outcome = at.call(params, request);
    const first = await Promise.race([outcome.then(() => null), asked()]);
    if (first) await decide(first.id, "deny", ANNA);
    await outcome;
    return first !== null;
  };
  /** Calls, and makes a rule of it. */
  const always = async (params: unknown, wish = EXACTLY, request: Partial<ToolRequest> = {}): Promise<ToolOutcome> => {
    const outcome = at.call(params, request);
    expect(await decide((await asked()).id, wish, ANNA)).toBe("done");
    return outcome;
  };
  const listed = async () => (await rules.list(ALL)).items;
  return {
    at,
    clock,
    real,
    ran,
    owners,
    rules,
    news,
    asked,
    decide,
    isAsked,
    always,
    listed,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

describe("a call that is allowed for always", () => {
  test("runs, and exactly the same call runs unasked from then on, with the rule on record", async () => {
    await using w = await world();
    expect(await w.always({ text: "tea" })).toMatchObject({ kind: "ok" });
    expect(await w.isAsked({ text: "tea" })).toBe(false);
    expect(await w.isAsked({ text: "coffee" })).toBe(true);
    expect(w.ran).toEqual([{ text: "tea" }, { text: "tea" }]);
    const [rule] = await w.listed();
    expect(rule).toMatchObject({
      tool: "echo",
      agentId: "default",
      principal: ANNA,
      origins: ["chat"],
      because: "the tool always asks",
      reach: "call",
      says: "exactly this call of echo",
      madeBy: ANNA,
      uses: 1,
    });
    expect(rule?.shown).toContain("tea");
    const { items } = await w.real.store.audit.list({ limit: 5 }, "rule.used");
    expect(items).toMatchObject([{ subject: rule?.id, actor: ANNA, detail: { tool: "echo", callId: "c2" } }]);
    expect(w.news).toEqual(["rules", "rules"]);
  });

  test("is asked about again as soon as its rule is removed", async () => {
    await using w = await world();
    await w.always({ text: "tea" });
    const [rule] = await w.listed();
    expect([await w.rules.remove(rule?.id ?? "", ANNA), await w.rules.remove(rule?.id ?? "", ANNA)]).toEqual([
      true,
      false,
    ]);
    expect(await w.isAsked({ text: "tea" })).toBe(true);
    expect(w.ran).toHaveLength(1);
  });

  test("is asked about again when whoever made the rule is no owner any more", async () => {
    await using w = await world();
    await w.always({ text: "tea" });
    w.owners.now = [];
    const outcome = w.at.call({ text: "tea" });
    await w.asked();
    w.owners.now = [ANNA];
    await w.decide((await w.asked()).id, "deny", ANNA);
    expect(await outcome).toMatchObject({ kind: "refused" });
  });

  test("is asked about again after ninety days", async () => {
    await using w = await world();
    await w.always({ text: "tea" });
    await w.clock.advance(RULE_MS - 1);
    expect(await w.isAsked({ text: "tea" })).toBe(false);
    await w.clock.advance(1);
    expect(await w.isAsked({ text: "tea" })).toBe(true);
    expect(await w.listed()).toEqual([]);
  });

  test("is asked about for another person and another agent", async () => {
    await using w = await world();
    await w.always({ text: "tea" });
    expect(await w.isAsked({ text: "tea" }, { context: MEMBER })).toBe(true);
    expect(await w.isAsked({ text: "tea" }, { context: { ...OWNER, agentId: "papers" as AgentId } })).toBe(true);
  });

  test("stays refused where the lists do not allow its tool", async () => {
    await using w = await world();
    await w.always({ text: "tea" });
    w.at.rules.now = policy({ deny: ["echo"] });
    expect(await w.at.call({ text: "tea" })).toMatchObject({ kind: "refused", code: "not_allowed" });
    expect(w.ran).toHaveLength(1);
  });
});

describe("an answer for always", () => {
  test("makes no rule of a tool that no owner knows in this form yet", async () => {
    await using w = await world({ review: { because: "it is new", accepted: () => undefined } });
    const outcome = w.at.call({ text: "tea" });
    const { id, rules } = await w.asked();
    expect([rules, await w.decide(id, EXACTLY, ANNA)]).toEqual([undefined, "no_such_rule"]);
    await w.decide(id, "once", ANNA);
    expect(await outcome).toMatchObject({ kind: "ok" });
    expect(await w.listed()).toEqual([]);
  });

  test("is not given by somebody who is no owner, nor wider than was offered", async () => {
    await using w = await world();
    const outcome = w.at.call({ text: "tea" });
    const { id, rules } = await w.asked();
    expect(rules?.map(({ reach }) => reach)).toEqual(["call"]);
    expect(await w.decide(id, EXACTLY, MEMBER.principal)).toBe("not_allowed");
    expect(await w.decide(id, { always: "program" }, ANNA)).toBe("no_such_rule");
    await w.decide(id, "deny", ANNA);
    expect([await w.decide(id, EXACTLY, ANNA), (await outcome).kind, await w.listed()]).toEqual([
      "unknown",
      "refused",
      [],
    ]);
  });

  test("leaves the question open where the agent has as many rules as it may have", async () => {
    await using w = await world();
    await w.always({ text: "0" });
    const [first] = await w.listed();
    if (!first) throw new Error("no rule was made");
    const { lastUsedAt: _last, uses: _uses, ...rule } = first;
    const { approvals } = w.real.store;
    for (let n = 1; n < MAX_RULES_PER_AGENT; n++) {
      const about = {
        hash: "h",
        callId: "c",
        because: "b",
        role: "owner",
        input: {},
        askedAt: 1,
        expiresAt: 2,
      } as const;
      const { tool: name, agentId, principal } = rule;
      const asked = { id: `a${n}`, tool: name, agentId, principal, sessionKey: OWNER.sessionKey, turnId: OWNER.turnId };
      await approvals.put({ ...about, ...asked });
      await approvals.endWithRule(`a${n}`, { ...rule, id: `r${n}`, value: `v${n}` }, MAX_RULES_PER_AGENT);
    }
    const outcome = w.at.call({ text: "more" });
    const { id } = await w.asked();
    expect(await w.decide(id, EXACTLY, ANNA)).toBe("too_many_rules");
    await w.decide(id, "once", ANNA);
    expect(await waitForEnd("the call", outcome)).toMatchObject({ kind: "ok" });
  });
});

test("a command of pi and a file of pi are offered with how far a rule may go", async () => {
  await using w = await world();
  w.at.rules.now = policy({ profile: () => "full", approvals: { ask: ["write"], never: [] } });
  const admit = (name: string, params: unknown, more: Partial<ToolRequest> = {}) => {
    const request = {
      tool: name,
      callId: `${name}-${JSON.stringify(params)}`,
      params,
      path: "pi",
      context: OWNER,
    } as const;
    return w.at.gate.admit({ ...request, ...more }, NEVER);
  };
  const first = admit("bash", { command: "git status" });
  const { id, rules } = await w.asked();
  expect(rules?.map(({ reach, says: words }) => [reach, words])).toEqual([
    ["call", "exactly this command"],
    ["program", "every git command"],
  ]);
  await w.decide(id, { always: "program" }, ANNA);
  expect((await first).kind).toBe("go");
  expect((await admit("bash", { command: "git log" })).kind).toBe("go");
  const attack = admit("bash", { command: "git log; rm -rf x" });
  await w.decide((await w.asked()).id, "deny", ANNA);
  expect((await attack).kind).toBe("refused");
  const file = () => "/home/ada/papers/a.txt";
  const write = admit("write", { path: "a.txt", content: "x" }, { file });
  const question = await w.asked();
  expect(question.rules?.at(-1)).toEqual({
    reach: "folder",
    value: "/home/ada/papers",
    says: "write for every file below /home/ada/papers",
  });
  await w.decide(question.id, { always: "folder" }, ANNA);
  expect((await write).kind).toBe("go");
});
