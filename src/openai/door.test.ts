import { describe, expect, test } from "bun:test";
import type { ApiKey } from "../contracts/api-keys.ts";
import { isGatewayError } from "../contracts/errors.ts";
import { type AgentId, OPERATOR, type SessionKey } from "../contracts/ids.ts";
import type { AskedCompletion, CompletionProgress } from "../contracts/openai.ts";
import type { IdempotentAnswerStore } from "../contracts/store/idempotent-answers.ts";
import { NO_MASK } from "../kit/secret.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createFakePool, dies, type FakeAgent, NO_USAGE, says, waits } from "../testing/fake-pool.ts";
import { freeBudget } from "../testing/free-budget.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { createAnswers } from "./answers.ts";
import { createOpenAiDoor } from "./door.ts";

const never = new AbortController().signal;
const REACHED = { limit: "dailyUsd", period: "day", unit: "usd", spent: 1, max: 1, unattendedMax: 1 } as const;
/** Of a gateway that is alone, and answers one request at a time. */
const forgetting: IdempotentAnswerStore = {
  claim: async () => ({ kind: "mine" }),
  keep: async () => undefined,
  drop: async () => undefined,
  prune: async () => 0,
};
const USER = [{ role: "user", content: "hi" }];

function doorWith(agent: FakeAgent = says("hello"), refusal: string | null = null) {
  const clock = createFakeClock();
  const pool = createFakePool(agent);
  const recorded: string[] = [];
  const answers = createAnswers({
    clock,
    mask: NO_MASK,
    ids: createSeqIds(),
    pool,
    budget: {
      ...freeBudget(),
      ask: () => (refusal === null ? { may: true } : { may: false, reached: REACHED, because: "spent", say: refusal }),
      record: async ({ id }) => void recorded.push(id),
    },
    delegations: {
      open: () => ({ settle: async () => ({ usage: NO_USAGE, spans: [] }), [Symbol.dispose]: () => undefined }),
    },
    timeoutMs: () => 60_000,
    images: { clock, resolve: async () => [], maxImageBytes: () => 100 },
    route: (_principal, agentId = "default") => ({
      kind: "accept",
      sessionKey: "unused" as SessionKey,
      agentId: agentId as AgentId,
      role: "owner",
      priority: 10,
      because: [],
    }),
    sessionKey: (agentId, turnId) => `agent:${agentId}:request:${turnId}` as SessionKey,
  });
  const names = { agents: () => ["default", "research"], startedAt: 1_000 };
  const options = {
    isAgent: (id: string) => names.agents().includes(id),
    isTaken: (name: string) => name === "cron",
    digest: (text: string) => `d${text.length}`,
  };
  const door = createOpenAiDoor({ clock, log: recordingLog(), idempotentAnswers: forgetting, answers, names, options });
  const asked = (body: object, more: Partial<AskedCompletion> = {}): AskedCompletion => ({
    request: door.read({ model: "pi-gateway", messages: USER, ...body }, null),
    principal: OPERATOR,
    key: null,
    idempotencyKey: null,
    digest: "d",
    inSession: () => Promise.reject(new Error("no session was named")),
    ...more,
  });
  return { door, pool, clock, recorded, asked };
}

async function codeOf(of: Promise<unknown>): Promise<string> {
  const error = await of.then(
    () => null,
    (failed: unknown) => failed,
  );
  return isGatewayError(error) ? error.code : String(error);
}

describe("a completion without a session", () => {
  test("is one lease of a session that ends with it, and is written into the usage ledger", async () => {
    const { door, pool, recorded, asked } = doorWith(says("hel", "lo"));
    const shown: CompletionProgress[] = [];
    const answer = await door.answer(asked({}), (progress) => void shown.push(progress), never);
    expect(answer).toMatchObject({ text: "hello", sessionKey: null, calls: [] });
    expect(shown.flatMap((one) => (one.type === "text" ? [one.delta] : []))).toEqual(["hel", "lo"]);
    expect(pool.prompted[0]?.request).toMatchObject({ passing: true, settledBytes: 0 });
    expect(pool.open()).toBe(0);
    expect(recorded).toEqual([answer.turnId]);
  });

  test("is tried again when the process died before it said a word, and not after one", async () => {
    let attempts = 0;
    const failed = { type: "failed", code: "agent_exited", detail: "", again: true, text: "" } as const;
    const diesTwice: FakeAgent = async function* (prompted, signal) {
      if (++attempts < 3) yield { ...failed, usage: NO_USAGE, model: "fake/one" };
      else yield* says("at last")(prompted, signal);
    };
    const { door, pool, asked } = doorWith(diesTwice);
    expect((await door.answer(asked({}), () => undefined, never)).text).toBe("at last");
    expect(new Set(pool.prompted.map(({ request }) => request.sessionFile)).size).toBe(3);
    const spoke = doorWith(dies);
    expect(await codeOf(spoke.door.answer(spoke.asked({}), () => undefined, never))).toBe("agent_exited");
    expect(spoke.pool.prompted).toHaveLength(1);
  });

  test("ends with its time limit, and gives the process back", async () => {
    const { door, pool, clock, asked } = doorWith(waits);
    const answer = codeOf(door.answer(asked({}), () => undefined, never));
    await clock.advance(60_000);
    expect(await answer).toBe("agent_timeout");
    expect(pool.open()).toBe(0);
  });

  test("of a spent budget asks no model", async () => {
    const { door, pool, asked } = doorWith(says("x"), "The budget is spent.");
    expect(await codeOf(door.answer(asked({}), () => undefined, never))).toBe("budget_spent");
    expect(pool.prompted).toEqual([]);
  });

  test("of a key for other agents is refused, and those agents are no models for it", async () => {
    const { door, pool, asked } = doorWith();
    const key = { agents: ["research"] } as unknown as ApiKey;
    const refused = asked({ model: "pi-gateway/default" }, { key });
    expect(await codeOf(door.answer(refused, () => undefined, never))).toBe("forbidden");
    expect(pool.prompted).toEqual([]);
    await door.answer(asked({}, { key }), () => undefined, never);
    expect(String(pool.prompted[0]?.request.caller.agentId)).toBe("research");
    expect(door.models(key).map(({ id }) => id)).toEqual(["pi-gateway", "pi-gateway/research"]);
  });
});

describe("an Idempotency-Key", () => {
  test("whose first request hangs up is answered for the one that still waits", async () => {
    let asks = 0;
    const stopped = { type: "aborted", text: "", usage: NO_USAGE, model: "fake/one" } as const;
    const { door, asked } = doorWith(async function* (prompted, signal) {
      if (++asks > 1) return yield* says("for you")(prompted, signal);
      yield { type: "text", delta: "for nobody" };
      if (signal.aborted) yield stopped;
    });
    const leaving = new AbortController();
    const keyed = asked({}, { idempotencyKey: "k" });
    const first = codeOf(door.answer(keyed, () => leaving.abort(new Error("gone")), leaving.signal));
    const second = door.answer(keyed, () => undefined, never);
    expect(await first).toBe("Error: gone");
    expect((await second).text).toBe("for you");
  });
});

describe("requests of one person", () => {
  test("are limited for a minute, and say when to come back", async () => {
    const { door, clock } = doorWith();
    const limit = door.admit(OPERATOR).limit;
    for (let count = 1; count < limit; count++) door.admit(OPERATOR);
    const tooMany = async () => door.admit(OPERATOR);
    expect(await codeOf(tooMany())).toBe("rate_limited");
    await clock.advance(60_000);
    expect(door.admit(OPERATOR)).toMatchObject({ remaining: limit - 1 });
  });
});

describe("a request", () => {
  const { door } = doorWith();
  const read = (body: object) => door.read({ model: "pi-gateway", messages: USER, ...body }, null);

  test("with a user names a session that nobody else names", () => {
    expect(read({ user: "ada" }).session).toBe("openai-ada");
    expect(read({ user: "Ada Lovelace" }).session).toBe("openai-d12");
    expect(read({ user: "" }).session).toBeNull();
    expect(door.read({ model: "pi-gateway", messages: USER, user: "ada" }, "notes").session).toBe("notes");
  });

  test("has its history before the last answer, and its prompt after it", () => {
    const messages = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call("c1"), call("c2")] },
      { role: "tool", tool_call_id: "c2", content: "two" },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "one" }] },
      { role: "user", content: "b" },
    ];
    const { history, prompt, client } = read({ messages });
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(prompt).toEqual({
      text: "b",
      images: [],
      results: [
        { callId: "c2", tool: "look", text: "two" },
        { callId: "c1", tool: "look", text: "one" },
      ],
    });
    expect(client.instructions).toBe("Be brief.");
  });

  test("with a call that has no result is refused", () => {
    const messages = [
      ...USER,
      { role: "assistant", content: null, tool_calls: [call("c1"), call("c2")] },
      { role: "tool", tool_call_id: "c1", content: "one" },
    ];
    expect(() => read({ messages })).toThrow("no result for the call c2");
    expect(() => read({ messages: messages.with(-1, { role: "user", content: "go on" }) })).toThrow("no result for");
  });
});

function call(id: string) {
  return { id, type: "function", function: { name: "look", arguments: "{}" } };
}
