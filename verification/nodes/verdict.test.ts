/** Histories of several gateways with one thing wrong each: the judge names it, and nothing else. */
import { expect, test } from "bun:test";
import { type History, isClean, judgeNodes, type NodesVerdict } from "./verdict.ts";

const answerTo = (text: string): string => `answer to ${text}`;

const GOOD: History = {
  sent: [
    { session: "a", number: 0, text: "a0", acknowledgedAt: 1, isPoisoned: false },
    { session: "a", number: 1, text: "a1", acknowledgedAt: 2, isPoisoned: false },
    { session: "b", number: 0, text: "b0", acknowledgedAt: null, isPoisoned: false },
  ],
  messages: [
    { session: "a", text: "a0", turnId: "t1" },
    { session: "a", text: "a1", turnId: "t2" },
  ],
  turns: [
    { id: "t1", session: "a", state: "done", begunAt: 10, endedAt: 20 },
    { id: "t2", session: "a", state: "done", begunAt: 20, endedAt: 30 },
  ],
  replies: [
    { turnId: "t1", chat: "a", text: "answer to a0", isNotice: false, isSent: true, isInDoubt: false },
    { turnId: "t2", chat: "a", text: "answer to a1", isNotice: false, isSent: true, isInDoubt: false },
  ],
};

test("a history in which everything is right is clean, with a message that nobody accepted and one that a notice answers", () => {
  expect(isClean(judgeNodes(GOOD, answerTo))).toBe(true);
  const noticed = { ...GOOD, replies: GOOD.replies.map((one, at) => ({ ...one, isNotice: at === 1, text: "Sorry." })) };
  const verdict = judgeNodes({ ...noticed, replies: [GOOD.replies[0], noticed.replies[1]] as never }, answerTo);
  expect([isClean(verdict), verdict.notices]).toEqual([true, 1]);
});

const [first, second] = GOOD.messages;
const [, secondTurn] = GOOD.turns;
const [firstReply, secondReply] = GOOD.replies;

test.each<[string, keyof NodesVerdict, Partial<History>]>([
  ["a message that was acknowledged and is not there", "lost", { messages: [first as never] }],
  ["a message that was acknowledged and not answered", "lost", { replies: [firstReply as never] }],
  ["a message that was stored twice", "doubled", { messages: [...GOOD.messages, second as never] }],
  ["a message that was answered twice", "doubled", { replies: [...GOOD.replies, secondReply as never] }],
  [
    "an answer to other words",
    "wrong",
    { replies: [firstReply as never, { ...(secondReply as never as object), text: "answer to a0" } as never] },
  ],
  [
    "a message that nobody sent",
    "wrong",
    { messages: [...GOOD.messages, { session: "a", text: "who?", turnId: null }] },
  ],
  [
    "an answer to a message that cannot be answered",
    "wrong",
    { sent: GOOD.sent.map((one) => ({ ...one, isPoisoned: one.text === "a0" })) },
  ],
  [
    "a message that cannot be answered and has no end",
    "lost",
    { sent: GOOD.sent.map((one) => ({ ...one, isPoisoned: one.text === "a0" })), replies: [secondReply as never] },
  ],
  [
    "a message that waits for ever behind one that cannot be answered",
    "lost",
    {
      sent: GOOD.sent.map((one) => ({ ...one, isPoisoned: one.text === "a0" })),
      replies: [{ ...(firstReply as never as object), text: "Sorry.", isNotice: true } as never],
    },
  ],
  ["messages that changed places", "outOfOrder", { messages: [second as never, first as never] }],
  [
    "turns that changed places",
    "outOfOrder",
    {
      turns: [
        { id: "t1", session: "a", state: "done", begunAt: 40, endedAt: 50 },
        { id: "t2", session: "a", state: "done", begunAt: 20, endedAt: 30 },
      ],
    },
  ],
  [
    "two turns of a session at the same time",
    "overlaps",
    { turns: [{ id: "t1", session: "a", state: "done", begunAt: 10, endedAt: 25 }, secondTurn as never] },
  ],
  [
    "a reply that was not delivered",
    "undelivered",
    { replies: [firstReply as never, { ...(secondReply as never as object), isSent: false } as never] },
  ],
])("%s is found", (_what, where, wrong) => {
  const verdict = judgeNodes({ ...GOOD, ...wrong }, answerTo);
  expect(verdict[where]).not.toEqual([]);
  expect(isClean(verdict)).toBe(false);
});

test("a message that cannot be answered ends with a notice, which is counted apart, and the next one is answered", () => {
  const sent = GOOD.sent.map((one) => ({ ...one, isPoisoned: one.text === "a0" }));
  const notice = { ...(firstReply as never as object), text: "Sorry.", isNotice: true };
  const verdict = judgeNodes({ ...GOOD, sent, replies: [notice as never, secondReply as never] }, answerTo);
  expect([isClean(verdict), verdict.notices, verdict.poisoned]).toEqual([true, 0, 1]);
});

test("a reply whose arrival is in doubt, and recorded so, is not undelivered", () => {
  const doubtful = { ...(secondReply as never as object), isSent: false, isInDoubt: true };
  expect(isClean(judgeNodes({ ...GOOD, replies: [firstReply as never, doubtful as never] }, answerTo))).toBe(true);
});

test("turns of different sessions at the same time are as it should be", () => {
  const turns = [...GOOD.turns, { id: "t3", session: "b", state: "done", begunAt: 12, endedAt: 28 } as const];
  expect(isClean(judgeNodes({ ...GOOD, turns }, answerTo))).toBe(true);
});
