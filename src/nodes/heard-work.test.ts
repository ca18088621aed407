/** What one gateway shows of another's work, made of what that one tells. */
import { expect, test } from "bun:test";
import type { OpenQuestion, Questions } from "../contracts/channels/question.ts";
import type { InboundMessage } from "../contracts/chat.ts";
import { CLIENT_EVENTS, type EventName } from "../contracts/events.ts";
import type { InboxId, InstanceId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { PresentWork } from "../contracts/nodes.ts";
import type { Approvals, PendingApproval } from "../contracts/tools/approval.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createLetterHub } from "../testing/letter-hub.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { joinEvents, relayEvents } from "./event-relay.ts";
import { followOtherNodes } from "./heard-work.ts";
import { createOtherNodes } from "./other-nodes.ts";
import { shareApprovals, shareQuestions } from "./shared-asking.ts";

const A = "gateway_a" as InstanceId;
const B = "gateway_b" as InstanceId;
const KEY = "agent:default:a" as SessionKey;
const TURN = "turn_1" as TurnId;
const MESSAGE = "msg_1" as InboxId;
const OLGA = "operator" as Principal;
const ABOUT = { sessionKey: KEY, turnId: TURN };
const APPROVAL: PendingApproval = {
  id: "ask_1",
  tool: "exec",
  callId: "c1",
  because: "it always asks",
  input: {},
  shown: "{}",
  sessionKey: KEY,
  turnId: TURN,
  principal: OLGA,
  origin: { channel: "webchat", account: "default", chat: "a" },
  askedAt: 2,
  expiresAt: 9,
};
const QUESTION: OpenQuestion = {
  id: "q_1",
  question: { kind: "confirm", title: "Sure?" },
  sessionKey: KEY,
  turnId: TURN,
  principal: OLGA,
  askedAt: 3,
  expiresAt: 9,
};
const NOTHING: PresentWork = { turns: [], approvals: [], questions: [] };

function world(present: PresentWork = NOTHING) {
  const clock = createFakeClock();
  const log = recordingLog();
  const hub = createLetterHub();
  const at = (node: InstanceId) => {
    const own = createEvents({ log });
    const heard = createEvents({ log });
    const nodes = createOtherNodes({ clock, log, ids: createSeqIds(), letters: hub.join(node) });
    nodes.answer("present", async () => present);
    relayEvents(own, nodes);
    return { own, heard, nodes, work: followOtherNodes({ clock, log, nodes, heard }), all: joinEvents(own, heard) };
  };
  return { clock, hub, a: at(A), b: at(B), settle: () => clock.advance(1) };
}

test("a turn that runs elsewhere is shown as it is there, from its start to its end", async () => {
  const { a, b, settle, clock } = world();
  await settle();
  b.own.emit("turn.started", { ...ABOUT, inboxIds: [MESSAGE], attempt: 1, waitedMs: 0 });
  b.own.emit("turn.delta", { ...ABOUT, text: "Well" });
  b.own.emit("turn.waiting", { ...ABOUT, until: 5, text: "The provider asks to wait." });
  await settle();
  expect(a.work.turn(KEY)).toMatchObject({ text: "Well", waiting: { until: 5 } });
  b.own.emit("turn.delta", { ...ABOUT, text: ", hello" });
  b.own.emit("turn.tool", {
    ...ABOUT,
    callId: "c1",
    tool: "exec",
    status: "running",
    input: { a: 1 },
    progress: "1 %",
  });
  b.own.emit("turn.tool", { ...ABOUT, callId: "c1", tool: "exec", status: "success", output: "done", ms: 4 });
  b.own.emit("turn.joined", { ...ABOUT, inboxIds: ["msg_2" as InboxId] });
  await settle();
  expect(a.work.turn(KEY)).toEqual({
    turnId: TURN,
    inboxIds: [MESSAGE, "msg_2" as InboxId],
    startedAt: clock.now() - 2,
    text: "Well, hello",
    tools: [{ callId: "c1", tool: "exec", status: "success", input: { a: 1 }, output: "done", ms: 4 }],
  });
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  b.own.emit("turn.ended", { ...ABOUT, inboxIds: [MESSAGE], outcome: "done", ms: 1, usage });
  await settle();
  expect([a.work.turn(KEY), b.work.turn(KEY)]).toEqual([null, null]);
});

test("every event that clients see is heard elsewhere, and no other one is; nobody hears it as their own", async () => {
  const { a, b, settle } = world();
  await settle();
  const heard: string[] = [];
  const others: readonly EventName[] = ["turn.measured", "model.call", "tool_execution_start", "agent.spawned"];
  for (const event of [...CLIENT_EVENTS, ...others]) {
    a.heard.on(event, () => void heard.push(event));
    a.own.on(event, () => void heard.push(`own ${event}`));
  }
  for (const event of [...CLIENT_EVENTS, ...others]) b.own.emit(event, { ...ABOUT, inboxIds: [] } as never);
  await settle();
  expect(heard).toEqual([...CLIENT_EVENTS]);
});

test("whoever listens to both hears what happens here and elsewhere, until it stops listening", async () => {
  const { a, b, settle } = world();
  await settle();
  const heard: string[] = [];
  const listening = a.all.on("status", ({ what }) => void heard.push(what));
  a.all.emit("status", { what: "jobs" });
  b.all.emit("status", { what: "budget" });
  await settle();
  listening[Symbol.dispose]();
  a.all.emit("status", { what: "keys" });
  b.all.emit("status", { what: "keys" });
  await settle();
  expect(heard).toEqual(["jobs", "budget"]);
});

test("a gateway that begins hears what is in the making elsewhere", async () => {
  const turn = { sessionKey: KEY, turnId: TURN, inboxIds: [MESSAGE], startedAt: 1, text: "half a sen", tools: [] };
  const { a, b, settle } = world({ turns: [turn], approvals: [APPROVAL], questions: [QUESTION] });
  await settle();
  b.own.emit("turn.delta", { ...ABOUT, text: "tence" });
  await settle();
  expect(a.work.turn(KEY)?.text).toBe("half a sentence");
  expect([a.work.approvals(), a.work.questions()]).toEqual([[APPROVAL], [QUESTION]]);
  expect([a.work.askerOf("ask_1"), a.work.askerOf("q_1"), a.work.askerOf("no such")]).toEqual([B, B, null]);
});

test("an approval that is asked elsewhere is listed with those of here, oldest first, and decided there", async () => {
  const { a, b, settle } = world();
  await settle();
  const decided: unknown[] = [];
  const own = (name: string, askedAt: number): Approvals => ({
    ask: () => new Promise(() => undefined),
    pending: () => [{ ...APPROVAL, id: `own_${name}`, askedAt }],
    decide: async (...args) => (decided.push([name, ...args]), "done"),
  });
  const atA = shareApprovals(own("a", 1), { nodes: a.nodes, heard: a.work });
  shareApprovals(own("b", 2), { nodes: b.nodes, heard: b.work });
  b.own.emit("approval", { ...APPROVAL, decision: null });
  await settle();
  expect(atA.pending().map(({ id }) => id)).toEqual(["own_a", "ask_1"]);
  expect(atA.pending()[1]).toEqual(APPROVAL);
  const chat = { address: APPROVAL.origin, scope: "dm" } as const;
  const answers = Promise.all([
    atA.decide("ask_1", "once", OLGA, chat),
    atA.decide("own_a", "deny", OLGA),
    atA.decide("ask_1", "deny", OLGA, "notification"),
  ]);
  await settle();
  expect(await answers).toEqual(["done", "done", "done"]);
  expect(decided).toEqual([
    ["a", "own_a", "deny", OLGA, undefined],
    ["b", "ask_1", "once", OLGA, chat],
    ["b", "ask_1", "deny", OLGA, "notification"],
  ]);
  const { input: _input, shown: _shown, ...ended } = APPROVAL;
  b.own.emit("approval", { ...ended, decision: "once", by: OLGA });
  await settle();
  expect(atA.pending().map(({ id }) => id)).toEqual(["own_a"]);
});

test("a question that is asked elsewhere is listed here and answered there", async () => {
  const { a, b, settle } = world();
  await settle();
  const given: unknown[] = [];
  const own = (name: string): Questions =>
    ({
      pending: () => [],
      answer: (...args: readonly unknown[]) => (given.push([name, ...args]), { kind: "taken", say: "Thank you." }),
    }) as unknown as Questions;
  const atA = shareQuestions(own("a"), { nodes: a.nodes, heard: a.work });
  shareQuestions(own("b"), { nodes: b.nodes, heard: b.work });
  b.own.emit("question", { ...QUESTION, end: null });
  await settle();
  expect(atA.pending()).toEqual([QUESTION]);
  const by = { principal: OLGA, role: "owner" } as const;
  const answer = atA.answerAnywhere("q_1", { kind: "value", value: true }, by);
  await settle();
  expect(await answer).toEqual({ kind: "taken", say: "Thank you." });
  expect(given).toEqual([["b", "q_1", { kind: "value", value: true }, by]]);
  b.own.emit("question", { ...QUESTION, end: { how: "answered", by: OLGA, because: "Answered." } });
  await settle();
  expect(atA.pending()).toEqual([]);
});

test("words in a chat answer a question that a turn of another gateway asks there, and are a message in other sessions", async () => {
  const { a, b, settle } = world();
  await settle();
  const given: unknown[] = [];
  const hears = (name: string) =>
    ({
      pending: () => [],
      hear: ({ text }: { readonly text: string }, by: unknown) => {
        if (name === "a") return null;
        given.push([text, by]);
        return { kind: "taken", say: "Thank you." };
      },
    }) as unknown as Questions;
  const atA = shareQuestions(hears("a"), { nodes: a.nodes, heard: a.work });
  shareQuestions(hears("b"), { nodes: b.nodes, heard: b.work });
  const said = { text: "tea" } as InboundMessage;
  const by = { role: "owner", sessionKey: KEY } as const;
  expect(await atA.hearAnywhere(said, by)).toBeNull(); // nobody has asked
  b.own.emit("question", { ...QUESTION, end: null });
  await settle();
  expect(await atA.hearAnywhere(said, { ...by, sessionKey: "agent:default:other" as SessionKey })).toBeNull();
  const answer = atA.hearAnywhere(said, { ...by, agentId: "default" } as typeof by);
  await settle();
  expect(await answer).toEqual({ kind: "taken", say: "Thank you." });
  expect(given).toEqual([["tea", by]]);
});

test("a question of a gateway that has ended is over, as its approvals are, and everybody who saw them is told so", async () => {
  const { a, hub, settle } = world({ ...NOTHING, approvals: [APPROVAL], questions: [QUESTION] });
  await settle();
  const heard: unknown[] = [];
  a.all.on("approval", ({ id, decision }) => void heard.push([id, decision]));
  a.all.on("question", ({ id, end }) => void heard.push([id, end?.how]));
  hub.end(B);
  expect(heard).toEqual([
    ["ask_1", "expired"],
    ["q_1", "cancelled"],
  ]);
  expect([a.work.approvals(), a.work.questions(), a.work.askerOf("ask_1")]).toEqual([[], [], null]);
});
