/** Which approvals and questions reach the client of a call, as which forms, and what its answers mean. */
import { describe, expect, test } from "bun:test";
import type { ChatQuestion, OpenQuestion } from "../../contracts/channels/question.ts";
import type { Principal, Role, SessionKey } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { createEvents } from "../../observe/index.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { PROGRAM } from "../../testing/tools/tool-world.ts";
import { createCallClient } from "./call-client.ts";
import { answerOf, approvalForm, decisionOf, questionForm } from "./elicitations.ts";
import type { CallInputs } from "./running-calls.ts";

const HERE = "agent:default:api:dm:here" as SessionKey;
const THERE = "agent:default:api:dm:there" as SessionKey;
const ADA = "key:user:ada" as Principal;

const approval = (more: Partial<PendingApproval> = {}): PendingApproval => ({
  id: "a1",
  tool: "send",
  callId: "c1",
  because: "it always asks",
  input: {},
  shown: '{"to":"Bob"}',
  sessionKey: HERE,
  turnId: "" as PendingApproval["turnId"],
  principal: PROGRAM.principal,
  origin: PROGRAM.origin,
  askedAt: 0,
  expiresAt: 1,
  ...more,
});
const question = (more: Partial<OpenQuestion> = {}): OpenQuestion => ({
  id: "q1",
  question: { kind: "confirm", title: "Sure?" },
  sessionKey: HERE,
  turnId: "t1" as OpenQuestion["turnId"],
  principal: PROGRAM.principal,
  askedAt: 0,
  expiresAt: 1,
  ...more,
});

type Wanted = Parameters<CallInputs["want"]>[0];

function world(more: { readonly role?: Role; readonly forms?: boolean; readonly pending?: PendingApproval[] } = {}) {
  const { role = "owner", forms = true, pending = [] } = more;
  const events = createEvents({ log: recordingLog() });
  const wanted = new Map<string, Wanted>();
  const told: unknown[] = [];
  const client = createCallClient(
    {
      log: recordingLog(),
      events,
      approvals: {
        pending: () => pending,
        async decide(id, decision, by) {
          told.push([id, decision, by]);
          return "done";
        },
      },
      questions: {
        pending: () => [],
        answer(id, given, by) {
          told.push([id, given, by]);
          return given.kind === "value" && given.value === "unfit"
            ? { kind: "refused", because: "unfit", say: "no" }
            : { kind: "taken", say: "yes" };
        },
      },
    },
    {
      callId: "c1",
      caller: { ...PROGRAM, role },
      answers: forms ? ["elicitation/create"] : [],
      inputs: {
        signal: new AbortController().signal,
        want(input) {
          wanted.set(input.name, input);
          return { [Symbol.dispose]: () => void wanted.delete(input.name) };
        },
      },
    },
  );
  return { events, wanted, told, client };
}

describe("an approval", () => {
  test("of the call itself is asked for, and no other one", () => {
    const { events, wanted } = world();
    events.emit("approval", { ...approval({ id: "other", callId: "c2" }), decision: null });
    events.emit("approval", { ...approval({ id: "theirs", principal: ADA }), decision: null });
    events.emit("approval", { ...approval(), decision: null });
    expect([...wanted.keys()]).toEqual(["a1"]);
  });

  test("of a followed session is asked for while it is followed, also one that was open before", () => {
    const { events, wanted, client } = world({ pending: [approval({ id: "before", callId: "x" })] });
    const followed = client.follow(HERE);
    events.emit("approval", { ...approval({ id: "in", callId: "y" }), decision: null });
    events.emit("approval", { ...approval({ id: "out", callId: "y", sessionKey: THERE }), decision: null });
    followed[Symbol.dispose]();
    events.emit("approval", { ...approval({ id: "late", callId: "y" }), decision: null });
    expect([...wanted.keys()]).toEqual(["before", "in"]);
  });

  test("that was answered elsewhere is not asked for any more, nor one of a call that has ended", () => {
    const { events, wanted, client } = world();
    events.emit("approval", { ...approval(), decision: null });
    events.emit("approval", { ...approval(), decision: "once", by: ADA });
    expect(wanted.size).toBe(0);
    events.emit("approval", { ...approval({ id: "a2" }), decision: null });
    client[Symbol.dispose]();
    events.emit("approval", { ...approval({ id: "a3" }), decision: null });
    expect(wanted.size).toBe(0);
  });

  test.each([
    ["of a member", { role: "member" as const }],
    ["that shows no forms", { forms: false }],
  ])("is not asked of a client %s", (_what, more) => {
    const { events, wanted } = world(more);
    events.emit("approval", { ...approval(), decision: null });
    expect(wanted.size).toBe(0);
  });

  test("is decided by the answer, in the name of the caller; what is no answer decides nothing", () => {
    const { events, wanted, told } = world();
    events.emit("approval", { ...approval(), decision: null });
    const { take } = wanted.get("a1") ?? {};
    expect(take?.({ action: "accept", content: { decision: "Perhaps" } })).toBe(false);
    expect(take?.({ action: "accept", content: { decision: "Allow once" } })).toBe(true);
    expect(told).toEqual([["a1", "once", PROGRAM.principal]]);
  });
});

describe("the form of an approval", () => {
  test("says what is to run, why it waits, and with which input", () => {
    expect(approvalForm(approval()).params).toMatchObject({
      message: 'May send run? It waits for your approval: it always asks.\n\n{"to":"Bob"}',
      requestedSchema: { required: ["decision"] },
    });
  });

  test.each([
    [{ action: "accept", content: { decision: "Allow once" } }, "once"],
    [{ action: "accept", content: { decision: "Allow for this conversation" } }, "session"],
    [{ action: "accept", content: { decision: "Deny" } }, "deny"],
    [{ action: "decline" }, "deny"],
    [{ action: "cancel" }, "deny"],
    [{ action: "cancel", content: { decision: "Allow once" } }, "deny"],
    [{ action: "accept" }, null],
    [{ action: "accept", content: { decision: "once" } }, null],
    [{ action: "accept", content: { decision: "toString" } }, null],
  ])("answered with %j decides %p", (answer, decision) => {
    expect(decisionOf(answer)).toBe(decision as ReturnType<typeof decisionOf>);
  });
});

describe("a question", () => {
  test("of a followed session is asked of the person it is for, and of owners", () => {
    const { events, wanted, client } = world({ role: "member" });
    client.follow(HERE);
    events.emit("question", { ...question(), end: null });
    events.emit("question", { ...question({ id: "theirs", principal: ADA }), end: null });
    events.emit("question", { ...question({ id: "there", sessionKey: THERE }), end: null });
    expect([...wanted.keys()]).toEqual(["q1"]);
    events.emit("question", { ...question(), end: { how: "expired", by: null, because: "" } });
    expect(wanted.size).toBe(0);
  });

  test("is answered as the person says, and asked again when that does not fit", () => {
    const { events, wanted, told, client } = world();
    client.follow(HERE);
    events.emit("question", { ...question(), end: null });
    const { take } = wanted.get("q1") ?? {};
    expect(take?.({ action: "accept", content: { answer: "unfit" } })).toBe(false);
    expect(take?.({ action: "accept", content: { answer: true } })).toBe(true);
    expect(told.at(-1)).toEqual([
      "q1",
      { kind: "value", value: true },
      { principal: PROGRAM.principal, role: "owner" },
    ]);
  });

  test.each<readonly [ChatQuestion, object]>([
    [
      { kind: "select", title: "Which?", options: ["tea", "tea", "coffee"] },
      { type: "string", enum: ["tea", "coffee"] },
    ],
    [{ kind: "confirm", title: "Sure?", text: "It is final." }, { type: "boolean" }],
    [
      { kind: "input", title: "Name?", placeholder: "first", prefill: "Ada" },
      { description: "first", default: "Ada" },
    ],
  ])("%j is a form with the field %j", (asked, field) => {
    const { params } = questionForm({ question: asked });
    expect(params).toMatchObject({ requestedSchema: { properties: { answer: field } } });
    expect(String(params?.["message"])).toStartWith(asked.title);
  });

  test.each([
    [{ action: "accept", content: { answer: "tea" } }, "tea"],
    [{ action: "accept", content: { answer: false } }, false],
    [{ action: "decline" }, null],
    [{ action: "cancel", content: { answer: "tea" } }, null],
    [{ action: "accept", content: { answer: 1 } }, undefined],
    [{ action: "accept" }, undefined],
  ])("answered with %j is answered with %p", (answer, expected) => {
    expect(answerOf(answer)).toBe(expected as ReturnType<typeof answerOf>);
  });
});
