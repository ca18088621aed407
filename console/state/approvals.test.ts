/** What the web console makes of news about approvals, in whatever order they come. */
import { expect, test } from "bun:test";
import type { PendingApproval } from "../../src/contracts/tools/approval.ts";
import { addOpen, forgetOpen, hearApproval, openElsewhere, shownIn } from "./approvals.ts";

const approval = (id: string, sessionKey = "a", turnId = "t1") =>
  ({
    id,
    sessionKey,
    turnId,
    tool: "bash",
    callId: `call-${id}`,
    because: "x",
    input: { command: id },
    principal: "operator",
    askedAt: 1,
    expiresAt: 2,
  }) as unknown as PendingApproval;
const asked = (one: PendingApproval) => ({ ...one, decision: null });
const ended = ({ input: _input, shown: _shown, ...one }: PendingApproval, decision: "once" | "deny" = "once") => ({
  ...one,
  decision,
  by: null,
});
const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);

test("an approval is open until its end is heard, and keeps what was asked", () => {
  const open = hearApproval([], asked(approval("1")));
  expect(open).toMatchObject([{ id: "1", decision: null }]);
  expect(hearApproval(open, asked(approval("1")))).toBe(open);
  expect(hearApproval(open, ended(approval("1"), "deny"))).toMatchObject([
    { decision: "deny", input: { command: "1" } },
  ]);
});

test("a list that is older than the news does not open an approval again", () => {
  const heard = hearApproval([], ended(approval("1")));
  expect(addOpen(heard, [approval("1"), approval("2")])).toMatchObject([
    { id: "1", decision: "once" },
    { id: "2", decision: null },
  ]);
});

test("an approval that the gateway does not name after a restart is open no more; one that was asked for meanwhile is", () => {
  const before = hearApproval(hearApproval([], asked(approval("old"))), ended(approval("done")));
  const asking = hearApproval(forgetOpen(before), asked(approval("new")));
  expect(ids(addOpen(asking, []))).toEqual(["done", "new"]);
});

test("each approval is shown in its own conversation, with its end while its turn lasts", () => {
  const all = [approval("1"), approval("2", "b"), approval("3", "a", "t0"), approval("4", "a", "")]
    .map(asked)
    .reduce(hearApproval, []);
  expect([ids(shownIn(all, "a", "t1")), ids(openElsewhere(all, "a"))]).toEqual([["1", "3", "4"], ["2"]]);
  const later = ["1", "3", "4"].reduce((now, id) => hearApproval(now, ended({ ...approval(id) })), all);
  expect(ids(shownIn(later, "a", "t1"))).toEqual(["1", "4"]);
  expect(ids(shownIn(later, "a", null))).toEqual(["4"]);
});

test("ended approvals do not pile up", () => {
  const many = Array.from({ length: 200 }, (_, n) => approval(String(n)));
  const all = many.reduce(
    (now, one) => hearApproval(hearApproval(now, asked(one)), ended(one)),
    hearApproval([], asked(approval("open"))),
  );
  expect(all).toHaveLength(51);
  expect(all[0]).toMatchObject({ id: "open", decision: null });
});
