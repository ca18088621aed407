/** Histories of several gateways with one thing wrong each: the judge names it, and nothing else. */
import { expect, test } from "bun:test";
import { type History, isClean, judgeNodes, type Model, type NodesVerdict, type StoredMessage } from "./verdict.ts";

/** Its answers name what it was told: "answer to a0 (+3: a1 a2)" is one of three messages of overflow, the oldest of them only counted. */
const model: Model = {
  answerTo: (text) => `answer to ${text}`,
  heardIn: (answer) => ({
    texts: answer.match(/\b[ab]\d\b/g) ?? [],
    overflow: Number(/\+(\d+)/.exec(answer)?.[1] ?? 0),
  }),
};
const stored = (text: string, turnId: string | null, overflow: StoredMessage["overflow"] = "none"): StoredMessage => ({
  session: text.slice(0, 1),
  text,
  turnId,
  overflow,
});

const GOOD: History = {
  sent: [
    { session: "a", number: 0, text: "a0", acknowledgedAt: 1, isPoisoned: false },
    { session: "a", number: 1, text: "a1", acknowledgedAt: 2, isPoisoned: false },
    { session: "b", number: 0, text: "b0", acknowledgedAt: null, isPoisoned: false },
  ],
  messages: [stored("a0", "t1"), stored("a1", "t2")],
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
  expect(isClean(judgeNodes(GOOD, model))).toBe(true);
  const noticed = { ...GOOD, replies: GOOD.replies.map((one, at) => ({ ...one, isNotice: at === 1, text: "Sorry." })) };
  const verdict = judgeNodes({ ...noticed, replies: [GOOD.replies[0], noticed.replies[1]] as never }, model);
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
  ["a message that nobody sent", "wrong", { messages: [...GOOD.messages, { ...stored("who?", null), session: "a" }] }],
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
  const verdict = judgeNodes({ ...GOOD, ...wrong }, model);
  expect(verdict[where]).not.toEqual([]);
  expect(isClean(verdict)).toBe(false);
});

test("a message that cannot be answered ends with a notice, which is counted apart, and the next one is answered", () => {
  const sent = GOOD.sent.map((one) => ({ ...one, isPoisoned: one.text === "a0" }));
  const notice = { ...(firstReply as never as object), text: "Sorry.", isNotice: true };
  const verdict = judgeNodes({ ...GOOD, sent, replies: [notice as never, secondReply as never] }, model);
  expect([isClean(verdict), verdict.notices, verdict.poisoned]).toEqual([true, 0, 1]);
});

test("a reply whose arrival is in doubt, and recorded so, is not undelivered", () => {
  const doubtful = { ...(secondReply as never as object), isSent: false, isInDoubt: true };
  expect(isClean(judgeNodes({ ...GOOD, replies: [firstReply as never, doubtful as never] }, model))).toBe(true);
});

test("turns of different sessions at the same time are as it should be", () => {
  const turns = [...GOOD.turns, { id: "t3", session: "b", state: "done", begunAt: 12, endedAt: 28 } as const];
  expect(isClean(judgeNodes({ ...GOOD, turns }, model))).toBe(true);
});

test("an answer to nobody is found", () => {
  const nobodys = { ...(secondReply as never as object), turnId: "t3", text: "answer to a2" };
  expect(judgeNodes({ ...GOOD, replies: [...GOOD.replies, nobodys as never] }, model).wrong).not.toEqual([]);
});

test("a message that a second turn answers as well is found, also where its row names one of them", () => {
  const again = { ...(secondReply as never as object), turnId: "t1" };
  expect(judgeNodes({ ...GOOD, replies: [...GOOD.replies, again as never] }, model).doubled).toEqual(["a0", "a1"]);
});

/** a0 has its own turn; a1 to a4 came while too many waited, so many that a1 is only counted. */
const TOO_MANY: History = {
  sent: [0, 1, 2, 3, 4, 5].map((number) => ({
    session: "a",
    number,
    text: `a${number}`,
    acknowledgedAt: number,
    isPoisoned: false,
  })),
  messages: [
    stored("a0", "t1"),
    stored("a1", "t1", "counted"),
    stored("a2", "t1", "shown"),
    stored("a3", "t1", "shown"),
    stored("a4", "t2", "shown"),
    stored("a5", "t3"),
  ],
  turns: [...GOOD.turns, { id: "t3", session: "a", state: "done", begunAt: 30, endedAt: 40 }],
  replies: ["answer to a0 (+3: a2 a3)", "answer to (+1: a4)", "answer to a5"].map((text, at) => ({
    turnId: `t${at + 1}`,
    chat: "a",
    text,
    isNotice: false,
    isSent: true,
    isInDoubt: false,
  })),
};
const saying = (text: string): Partial<History> => ({
  replies: TOO_MANY.replies.map((one, at) => (at === 0 ? { ...one, text } : one)),
});
const filed = (text: string, change: Partial<StoredMessage>): Partial<History> => ({
  messages: TOO_MANY.messages.map((one) => (one.text === text ? { ...one, ...change } : one)),
});

test("overflow that is answered with the message before it, or together, is clean and counted", () => {
  const verdict = judgeNodes(TOO_MANY, model);
  expect([isClean(verdict), verdict.overflow]).toEqual([true, 4]);
});

test("overflow that is counted with the next overflow of its chat, behind what was accepted between the two, is clean", () => {
  const between = [
    stored("a0", "t1"),
    stored("a1", "t3", "counted"),
    stored("a2", "t2"),
    stored("a3", "t3"),
    stored("a4", "t3", "shown"),
  ];
  const texts = ["answer to a0", "answer to a2", "answer to a3 (+2: a4)"];
  const replies = TOO_MANY.replies.map((one, at) => ({ ...one, text: texts[at] ?? "" }));
  const verdict = judgeNodes({ ...TOO_MANY, sent: TOO_MANY.sent.slice(0, 5), messages: between, replies }, model);
  expect(verdict).toMatchObject({ wrong: [], outOfOrder: [], lost: [], doubled: [] });
});

test.each<[string, keyof NodesVerdict, Partial<History>]>([
  ["is not shown to the model", "wrong", saying("answer to a0 (+3: a3)")],
  ["is shown to the model twice", "doubled", saying("answer to a0 (+3: a2 a3 a3)")],
  ["is shown in another order", "wrong", saying("answer to a0 (+3: a3 a2)")],
  ["is shown though it is only to be counted", "wrong", saying("answer to a0 (+3: a1 a2 a3)")],
  ["is counted wrong", "wrong", saying("answer to a0 (+2: a2 a3)")],
  ["hides the message that it came after", "wrong", saying("answer to (+3: a2 a3)")],
  ["is shown by the turn before its own as well", "doubled", saying("answer to a0 (+3: a2 a3 a4)")],
  ["is answered by no turn", "lost", filed("a1", { turnId: null })],
  ["is counted by a turn that comes later", "outOfOrder", filed("a1", { turnId: "t3" })],
  ["is shown by a turn that comes later", "outOfOrder", filed("a2", { turnId: "t3" })],
  ["is no overflow, and shares the turn of another message", "wrong", filed("a2", { overflow: "none" })],
])("overflow that %s is found", (_what, where, wrong) => {
  const verdict = judgeNodes({ ...TOO_MANY, ...wrong }, model);
  expect(verdict[where]).not.toEqual([]);
  expect(isClean(verdict)).toBe(false);
});
