/** A question about a host: the owner sees commands without secrets and not too long, and a yes counts for exactly who asked. */
import { expect, test } from "bun:test";
import type { EgressCaller } from "../contracts/egress.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { ApprovalQuestion } from "../contracts/tools/approval.ts";
import { createHostQuestions } from "./host-questions.ts";

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
