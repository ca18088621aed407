/** What every store promises about questions to the owner. */
import { describe, expect, test } from "bun:test";
import type { TurnId } from "../../../contracts/ids.ts";
import type { AskedApproval } from "../../../contracts/store/approvals.ts";
import { AGENT, end, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function question(id: string, more: Partial<AskedApproval> = {}): AskedApproval {
  return {
    id,
    hash: `hash-${id}`,
    tool: "echo",
    callId: `call-${id}`,
    because: "the tool always asks",
    sessionKey: sessionKey("a"),
    turnId: "t1" as TurnId,
    agentId: AGENT,
    principal: OPERATOR,
    role: "owner",
    input: { text: id },
    askedAt: 1_000,
    expiresAt: 2_000,
    ...more,
  };
}

const YES = { decision: "once", by: OPERATOR, at: 1_500 } as const;

export function approvalContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    endPromises(open);
    grantPromises(open);
  });
}

function endPromises(open: () => Promise<StoreWorld>): void {
  test("a question is answered once; what comes later changes nothing", async () => {
    await using world = await open();
    const { approvals } = world.store;
    await approvals.put(question("one"));
    expect(await approvals.end("one", YES)).toBe(true);
    expect(await approvals.end("one", { decision: "deny", by: OPERATOR, at: 1_600 })).toBe(false);
    expect(await approvals.end("never asked", YES)).toBe(false);
    const store = await world.reopen();
    expect((await store.approvals.ended({ limit: 5 })).items).toEqual([
      { ...question("one"), decision: "once", decidedBy: OPERATOR, decidedAt: 1_500 },
    ]);
  });

  test("the hash of a call is known while its approval is open, and the audit log says when a notification decided it", async () => {
    await using world = await open();
    const { approvals, audit } = world.store;
    await approvals.put(question("one"));
    expect(await approvals.openHash("one")).toBe("hash-one");
    await approvals.end("one", { ...YES, via: "notification" });
    expect([await approvals.openHash("one"), await approvals.openHash("never asked")]).toEqual([null, null]);
    const { items } = await audit.list({ limit: 1 }, "approval.ended");
    expect(items).toMatchObject([{ actor: OPERATOR, subject: "one", detail: { via: "notification" } }]);
  });

  test("a question that the previous process left open is expired, and cannot be answered", async () => {
    await using world = await open();
    await world.store.approvals.put(question("left"));
    expect((await world.store.approvals.ended({ limit: 5 })).items).toEqual([]);
    const { approvals } = await world.reopen();
    expect((await approvals.ended({ limit: 5 })).items).toMatchObject([
      { id: "left", decision: "expired", decidedBy: null },
    ]);
    expect(await approvals.end("left", { ...YES, decision: "session" })).toBe(false);
    expect(await approvals.grantedBy(sessionKey("a"), "echo")).toBeNull();
  });

  test("ended questions are listed page by page, and old ones can be taken away; open ones stay", async () => {
    await using world = await open();
    const { approvals } = world.store;
    for (const [at, id] of ["a", "b", "c"].entries()) {
      await approvals.put(question(id, { askedAt: at }));
      if (id !== "b") await approvals.end(id, YES);
    }
    const first = await approvals.ended({ limit: 1 });
    expect(first.items.map(({ id }) => id)).toEqual(["c"]);
    const second = await approvals.ended({ limit: 1, cursor: first.next ?? "" });
    expect([second.items.map(({ id }) => id), second.next]).toEqual([["a"], undefined]);
    expect([await approvals.prune(2), await approvals.prune(2)]).toEqual([1, 0]);
    expect((await approvals.ended({ limit: 5 })).items.map(({ id }) => id)).toEqual(["c"]);
    expect(await approvals.end("b", YES)).toBe(true);
  });
}

function grantPromises(open: () => Promise<StoreWorld>): void {
  test("what is allowed for a session holds for that tool there, over a restart, until it is begun anew", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    await world.store.turns.begin(turn("t1", "a", ["in1"]));
    await world.store.approvals.put(question("one"));
    await world.store.approvals.end("one", { decision: "session", by: OPERATOR, at: 1_500 });
    const { approvals, sessions } = await world.reopen();
    const granted = () =>
      Promise.all([
        approvals.grantedBy(sessionKey("a"), "echo"),
        approvals.grantedBy(sessionKey("a"), "other"),
        approvals.grantedBy(sessionKey("b"), "echo"),
      ]);
    expect(await granted()).toEqual([OPERATOR, null, null]);
    await sessions.reset(sessionKey("a"), 3_000);
    expect(await granted()).toEqual([null, null, null]);
  });

  test("what is allowed in one conversation does not hold in another that takes its place", async () => {
    await using world = await open();
    const { approvals, conversations, inbox, sessions, turns } = world.store;
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.finish(end("t1"));
    await sessions.reset(sessionKey("a"), 3_000);
    await approvals.put(question("one"));
    await approvals.end("one", { ...YES, decision: "session" });
    const asker = { sessionKey: sessionKey("a"), agentId: AGENT, principal: OPERATOR };
    const [earlier] = await conversations.list(asker, 5);
    const resumed = await conversations.resume(asker, earlier?.file ?? "", { turnId: "t2" as TurnId, at: 4_000 });
    expect([resumed.kind, await approvals.grantedBy(sessionKey("a"), "echo")]).toEqual(["resumed", null]);
  });

  const others = [YES, { ...YES, decision: "deny" }, { decision: "expired", by: null, at: 1_500 }] as const;
  test.each(others)("$decision allows nothing for later", async (end) => {
    await using world = await open();
    await world.store.approvals.put(question("one"));
    await world.store.approvals.end("one", end);
    expect(await world.store.approvals.grantedBy(sessionKey("a"), "echo")).toBeNull();
  });
}
