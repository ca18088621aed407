/** A question about a host: the owner sees commands without secrets and not too long, and a yes counts for exactly who asked. */
import { expect, test } from "bun:test";
import type { EgressCaller } from "../contracts/egress.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../contracts/tools/approval.ts";
import { createHostQuestions, MAX_HOSTS_ASKED } from "./host-questions.ts";

const OF: EgressCaller["of"] = {
  principal: "web:user:ann" as Principal,
  sessionKey: "agent:default:main" as SessionKey,
  agentId: "default" as AgentId,
  turnId: "turn" as TurnId,
  role: "owner",
  origin: { channel: "webchat", account: "default", chat: "ann" },
};
const SECRET = "hunter2-hunter2";

/** What the owner is asked about this host. */
async function questionAbout(
  target: { readonly host: string; readonly port: number },
  of: EgressCaller["of"] = OF,
  command = "npm install",
): Promise<ApprovalQuestion> {
  const questions: ApprovalQuestion[] = [];
  const { ask } = createHostQuestions({
    approvals: { ask: async (question) => (questions.push(question), "deny") },
    scrub: (text) => text.replaceAll(SECRET, "[redacted]"),
  });
  const over = new AbortController().signal;
  await ask(target, { of, network: { allow: [], ask: true }, over, commands: () => [command] }, "it is not listed");
  const [question] = questions;
  if (!question) throw new Error("nobody was asked");
  return question;
}

const TARGET = { host: "example.org", port: 443 };

test("the owner is shown so much of a command, and no secret that is cut through at that place", async () => {
  const { shown } = await questionAbout(TARGET, OF, `${"a".repeat(995)}${SECRET} and more`);
  const [command = ""] = (shown as { commands: string[] }).commands;
  expect([command.length, command.slice(-5)]).toEqual([1_000, "[reda"]);
});

test.each<[string, { host: string; port: number }, Partial<EgressCaller["of"]>]>([
  ["host", { ...TARGET, host: "other.example" }, {}],
  ["port", { ...TARGET, port: 22 }, {}],
  ["session", TARGET, { sessionKey: "agent:default:other" as SessionKey }],
  ["person", TARGET, { principal: "web:user:bob" as Principal }],
  ["agent", TARGET, { agentId: "other" as AgentId }],
])("a yes for one %s is none for another", async (_what, target, other) => {
  const [first, second] = [await questionAbout(TARGET), await questionAbout(target, { ...OF, ...other })];
  expect(second.hash).not.toBe(first.hash);
});

test("a yes in one turn is found again in the next turn of the same session", async () => {
  const [first, second] = [
    await questionAbout(TARGET),
    await questionAbout(TARGET, { ...OF, turnId: "next" as TurnId }, "another command"),
  ];
  expect([second.hash, second.tool, second.callId]).toEqual([first.hash, first.tool, first.callId]);
});

test("the owner is asked with who wants it, why, and what is to be reached, until the turn is over", async () => {
  const question = await questionAbout(TARGET);
  expect(question).toEqual({
    tool: "network example.org:443",
    callId: "network example.org:443",
    caller: OF,
    because: "it is not listed",
    shown: { host: "example.org", port: 443, commands: ["npm install"] },
    hash: question.hash,
  });
});

/** Asks in turns of their own; `answer` is what the owner does. */
function asking(answer: () => Promise<ApprovalAnswer>) {
  const signals: AbortSignal[] = [];
  const asked: string[] = [];
  const { ask } = createHostQuestions({
    approvals: {
      ask(question, signal) {
        asked.push(question.tool);
        signals.push(signal);
        return answer();
      },
    },
    scrub: (text) => text,
  });
  const turn = (): EgressCaller => ({
    of: OF,
    network: { allow: [], ask: true },
    over: new AbortController().signal,
    commands: () => [],
  });
  return { ask, asked, signals, turn };
}

test.each<[ApprovalAnswer, unknown]>([
  ["once", { kind: "yes", scope: "once" }],
  ["session", { kind: "yes", scope: "session" }],
  ["deny", { kind: "no", because: "it is not listed, and the owner did not allow it" }],
  ["expired", { kind: "no", because: "it is not listed, and nobody allowed it in time" }],
  ["full", { kind: "no", because: "it is not listed, and too many questions wait for the owner already" }],
])("the owner's answer %s is told with its reason, and is waited for until the turn is over", async (answer, told) => {
  const { ask, signals, turn } = asking(async () => answer);
  const caller = turn();
  expect<unknown>(await ask(TARGET, caller, "it is not listed")).toEqual(told);
  expect(signals).toEqual([caller.over]);
});

test("a question that cannot be stored is a no, with the reason", async () => {
  const { ask, turn } = asking(() => Promise.reject(new Error("the disk is full")));
  const because = "it is not listed, and the owner could not be asked";
  expect(await ask(TARGET, turn(), "it is not listed")).toEqual({ kind: "no", because });
});

test("a turn asks once about each port of a host and about so many in all, and the next turn begins anew", async () => {
  const { ask, asked, turn } = asking(async () => "once");
  const [first, second] = [turn(), turn()];
  const ports = Array.from({ length: MAX_HOSTS_ASKED }, (_, index) => index + 1);
  for (const port of [...ports, ...ports])
    expect((await ask({ ...TARGET, port }, first, "it is not listed")).kind).toBe("yes");
  expect(asked).toEqual(ports.map((port) => `network example.org:${port}`));
  const because = "it is not listed, and the owner was asked about enough hosts in this turn";
  expect(await ask({ ...TARGET, port: 1_000 }, first, "it is not listed")).toEqual({ kind: "no", because });
  expect((await ask({ ...TARGET, port: 1_000 }, second, "it is not listed")).kind).toBe("yes");
});
