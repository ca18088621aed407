import { expect, test } from "bun:test";
import { dismissalOf, type InboxItem, inboxItems, type InboxSources, isLostNow, keepRows } from "./inbox.ts";

const NOTHING: InboxSources = {
  approvals: [],
  questions: [],
  people: [],
  config: { file: "c", applied: true, problems: [] },
  failingJobs: [],
  replies: [],
};
const sources = (change: Readonly<Record<keyof InboxSources, unknown>> | object) =>
  ({ ...NOTHING, ...change }) as InboxSources;
const ids = (items: readonly InboxItem[]) => items.map(({ id }) => id);

test("the inbox holds what waits for a person, agents that wait first, and nothing that is decided", () => {
  const items = inboxItems(
    sources({
      approvals: [
        { id: "a1", decision: null },
        { id: "a2", decision: "deny" },
      ],
      questions: [
        { id: "q1", end: null, sessionKey: "agent:default:webchat:dm:1" },
        { id: "q2", end: { how: "answered" }, sessionKey: "agent:default:webchat:dm:1" },
        { id: "q3", end: null, sessionKey: "agent:default:telegram:dm:1" },
      ],
      people: [
        { id: "p1", state: "approved" },
        { id: "p2", state: "pending" },
      ],
      config: { file: "c", applied: false, problems: ["line 3"] },
      failingJobs: [{ id: "tea", lastRun: { id: "r7" } }],
      replies: [{ id: "t1:0" }],
    }),
  );
  expect(ids(items)).toEqual(["approval a1", "question q1", "person p2", "config", "job tea r7", "reply t1:0"]);
  expect(inboxItems(NOTHING)).toEqual([]);
});

test("rows of the inbox keep their places when things are decided and others come", () => {
  const one = inboxItems(sources({ approvals: [{ id: "a", decision: null }], replies: [{ id: "t" }] }));
  const two = inboxItems(sources({ approvals: [{ id: "b", decision: null }], replies: [{ id: "t" }] }));
  const rows = keepRows(keepRows([], one), two);
  expect(rows.map(({ item, over }) => [item.id, over])).toEqual([
    ["approval a", true],
    ["reply t", false],
    ["approval b", false],
  ]);
});

test("a reply that was sent again waits for nobody, unless it is lost again, and then it is news for whoever dismissed it", () => {
  const retried = { at: 7, from: "ambiguous" } as const;
  expect(isLostNow({ state: "dead" })).toBe(true);
  for (const now of ["pending", "sending", "sent"] as const)
    expect([now, isLostNow({ state: "ambiguous", retried: { ...retried, now } })]).toEqual([now, false]);
  expect(isLostNow({ state: "ambiguous", retried: { ...retried, now: "ambiguous" } })).toBe(true);
  const replies = [{ id: "t:0" }, { id: "t:0", retried: { ...retried, now: "ambiguous" } }];
  expect(inboxItems(sources({ replies })).map(dismissalOf)).toEqual(["reply t:0", "reply t:0 7"]);
});
