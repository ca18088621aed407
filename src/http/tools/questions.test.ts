/** Answers to questions of running turns over the port: only from the operator, only what fits, only once. */
import { describe, expect, test } from "bun:test";
import type { OpenQuestion, Questions } from "../../contracts/channels/question.ts";
import type { Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { agentTokens, expectOperatorOnly } from "../../testing/http/not-the-operator.ts";
import { openWs } from "../../testing/http/ws-client.ts";

const OPEN: OpenQuestion = {
  id: "q1",
  question: { kind: "select", title: "Which one?", options: ["tea"] },
  sessionKey: "agent:default:webchat:dm:1" as SessionKey,
  turnId: "t1" as TurnId,
  principal: "operator" as Principal,
  askedAt: 1,
  expiresAt: 2,
};

function world() {
  const given: Parameters<Questions["answer"]>[] = [];
  const questions: Pick<Questions, "pending" | "answerAnywhere"> = {
    pending: () => [OPEN],
    async answerAnywhere(...asked) {
      const [id, answer] = asked;
      if (id !== OPEN.id || given.length > 0)
        return { kind: "refused", because: "over", say: "This question is over." };
      if (answer.kind === "value" && answer.value === "milk")
        return { kind: "refused", because: "unfit", say: "That is none of the answers." };
      given.push(asked);
      return { kind: "taken", say: "tea" };
    },
  };
  return Object.assign(startHttpWorld({}, { tools: { questions, agentTokens } }), { given });
}

test("GET /api/questions lists the open ones", async () => {
  await using at = world();
  expect(await (await at.call("/api/questions")).json()).toEqual({ items: [OPEN] });
});

describe("POST /api/questions/:id", () => {
  test("answers a question once, as the one who is signed in", async () => {
    await using at = world();
    const first = await at.postJson("/api/questions/q1", { answer: "tea" });
    expect([first.status, await first.json()]).toEqual([200, { said: "tea" }]);
    const by = { principal: "operator" as Principal, role: "owner" } as const;
    expect(at.given).toEqual([["q1", { kind: "value", value: "tea" }, by]]);
    const again = await at.postJson("/api/questions/q1", { answer: "tea" });
    expect([again.status, await again.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  });

  test("says what is wrong with an answer that does not fit", async () => {
    await using at = world();
    const response = await at.postJson("/api/questions/q1", { answer: "milk" });
    expect([response.status, await response.json()]).toMatchObject([
      ...[422, { error: { code: "invalid_params", message: "That is none of the answers." } }],
    ]);
  });

  test.each([{}, { answer: 1 }, { answer: ["tea"] }, { answer: "tea", by: "anna" }, { answer: "x".repeat(32_001) }])(
    "refuses %j",
    async (body) => {
      await using at = world();
      expect((await at.postJson("/api/questions/q1", body)).status).toBe(422);
      expect(at.given).toEqual([]);
    },
  );

  test("is not for strangers, and not for the agent that asks", async () => {
    await using at = world();
    await expectOperatorOnly(at, { list: "/api/questions", one: "/api/questions/q1", body: { answer: "tea" } });
    expect(at.given).toEqual([]);
  });
});

test("the socket lists and answers in the same way, and tells of both ends of a question", async () => {
  await using at = world();
  using client = await openWs(at);
  await client.ask("subscribe", { events: ["question"] });
  expect(await client.ask("questions.list", {})).toEqual({ items: [OPEN] });
  at.deps.events.emit("question", { ...OPEN, end: null });
  expect(await client.ask("questions.answer", { id: "q1", answer: null })).toEqual({ said: "tea" });
  expect(at.given).toMatchObject([["q1", { kind: "value", value: null }, { principal: "operator" }]]);
  await expect(client.ask("questions.answer", { id: "q1", answer: true })).rejects.toThrow("not_found");
  expect(client.events.map(({ event, data }) => [event, data["end"]])).toEqual([["question", null]]);
});
