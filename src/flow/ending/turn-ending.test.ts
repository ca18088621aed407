import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../contracts/errors.ts";
import { type AgentEnding, endOf, isPost, MAX_ATTEMPTS, shouldRetry, providerSentence } from "./turn-ending.ts";

const usage = { inputTokens: 1, outputTokens: 2, costUsd: 0 };
const died: AgentEnding = {
  type: "failed",
  code: "agent_exited",
  detail: "exit 137",
  again: true,
  text: "",
  usage,
  model: "m",
};
const texts = (ending: AgentEnding, stoppedBy: Parameters<typeof endOf>[1] = "stopped") =>
  endOf(ending, stoppedBy).reply.map(({ message }) => [message.kind, message.text]);

describe("a turn without words", () => {
  const silent = {
    type: "done",
    text: " ",
    usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
    model: "m",
  } as const;
  test("is an answer when a tool has sent something to the chat, and a failure otherwise", () => {
    expect(endOf(silent, "stopped", true)).toMatchObject({ outcome: "done", reply: [] });
    expect(endOf(silent, "stopped", false)).toMatchObject({ outcome: "failed", error: { code: "agent_empty" } });
  });
  test("knows a message that was sent from one that was not", () => {
    const end = { type: "tool_end", callId: "c", output: "" } as const;
    expect(isPost({ ...end, tool: "send_media", isError: false })).toBe(true);
    expect(isPost({ ...end, tool: "send_message", isError: true })).toBe(false);
    expect(isPost({ ...end, tool: "add_task", isError: false })).toBe(false);
  });
});

describe("the end of a turn", () => {
  test("is the agent's words when it answered", () => {
    expect(endOf({ type: "done", text: "Hello", usage, model: "m" }, "stopped")).toEqual({
      outcome: "done",
      reply: [{ part: 0, message: { kind: "reply", text: "Hello" } }],
      usage,
      model: "m",
    });
  });

  test("is a notice when the agent settled without a word", () => {
    expect(texts({ type: "done", text: "  \n", usage, model: "m" })).toEqual([["notice", ERRORS.agent_empty.say]]);
  });

  test("keeps what was said before a failure and adds what happened", () => {
    expect(texts({ ...died, text: "I was say" })).toEqual([
      ["reply", "I was say"],
      ["notice", ERRORS.agent_exited.say],
    ]);
  });

  test.each(["deadline", "stopped", "interrupted"] as const)(
    "shows a complete answer alone when it arrived after the turn was told to stop (%s)",
    (stoppedBy) => {
      expect(texts({ type: "done", text: "the answer", usage, model: "m" }, stoppedBy)).toEqual([
        ["reply", "the answer"],
      ]);
    },
  );

  test("says that it was stopped when somebody stopped it, and that it took too long when the deadline did", () => {
    const stopped: AgentEnding = { type: "aborted", text: "", usage, model: "m" };
    expect(texts(stopped)).toEqual([["notice", "Stopped."]]);
    expect(texts(stopped, "deadline")).toEqual([["notice", ERRORS.agent_timeout.say]]);
  });

  test.each([
    ["the process died, first attempt", died, 1, true],
    ["the process died, last attempt", died, MAX_ATTEMPTS, false],
    ["the model said no", { ...died, again: false }, 1, false],
    ["it was stopped", { type: "aborted", text: "", usage, model: "m" } as AgentEnding, 1, false],
  ])("is put off for another attempt or not: %s", (_case, ending, attempt, again) => {
    expect(shouldRetry(ending as AgentEnding, attempt as number)).toBe(again as boolean);
  });
});

test.each([
  [
    "provider_auth",
    '401: {"error":{"message":"Incorrect API key.","type":"x"}}',
    "acme/large",
    'acme answered with status 401: "Incorrect API key."',
  ],
  [
    "provider_down",
    "500 internal\nserver error",
    "acme/large",
    'acme answered with status 500: "internal server error"',
  ],
  ["provider_cut", "terminated", "", 'The model provider failed: "terminated"'],
  ["provider_context", "Error: 400 maximum context length is 8192", "acme/m", "acme answered with status 400:"],
] as const)(
  "a failure of a provider (%s, %s) names the provider, the status and its sentence, and says what to do",
  (code, detail, model, words) => {
    const say = providerSentence({ code, detail, model }) ?? "";
    expect(say).toStartWith(words);
    expect(say).toEndWith(ERRORS[code].say);
    expect(say).not.toContain("\n");
  },
);

test("a failure that is not the provider's quotes nobody, and a long sentence is cut", () => {
  expect(providerSentence({ code: "agent_exited", detail: "gone", model: "acme/m" })).toBeNull();
  const long = providerSentence({ code: "provider_down", detail: "x".repeat(9_000), model: "acme/m" }) ?? "";
  expect(long.length).toBeLessThan(500);
});

test("a provider that has said how long to wait is quoted with the time, instead of a moment that nobody knows", () => {
  const limited = {
    code: "provider_limited",
    detail: '429 {"error":{"message":"Slow down"}}',
    model: "acme/m",
  } as const;
  const say = providerSentence({ ...limited, tryAt: 7 }, (at) => `minute ${at} (UTC)`);
  expect(say).toBe(
    'acme answered with status 429: "Slow down" The model provider is limiting requests right now. It asks to wait until minute 7 (UTC): try again then.',
  );
  expect(providerSentence(limited, () => "never")).toEndWith(ERRORS.provider_limited.say);
});
