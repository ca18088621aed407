import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import type { Completion, OpenAiDoor } from "../../contracts/openai.ts";
import { deferred } from "../../kit/deferred.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

const REQUEST: ReturnType<OpenAiDoor["read"]> = {
  model: "pi-gateway",
  agent: undefined,
  session: null,
  history: [],
  prompt: { text: "hi", images: [], results: [] },
  client: { tools: [], instructions: "" },
  stream: false,
  includeUsage: false,
};
const COMPLETION: Completion = {
  turnId: "turn_1",
  sessionKey: null,
  text: "hello",
  calls: [],
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 2, costUsd: 0 },
  created: 5,
};

function worldWith(door: Partial<OpenAiDoor>) {
  const openai: OpenAiDoor = {
    models: () => [],
    read: () => REQUEST,
    admit: () => ({ limit: 10, remaining: 9, resetMs: 1_500 }),
    answer: async () => COMPLETION,
    ...door,
  };
  return startHttpWorld({}, { messages: { openai } });
}

describe("a chat completion", () => {
  test("that is one too many is answered with 429, Retry-After and the form of OpenAI", async () => {
    await using world = worldWith({
      admit() {
        throw new GatewayError("rate_limited", "often", { say: "Too often.", fields: { retryAfterMs: 2_500 } });
      },
    });
    const response = await world.postJson("/v1/chat/completions", {});
    expect([response.status, response.headers.get("retry-after"), response.headers.get("x-should-retry")]).toEqual([
      429,
      "3",
      "true",
    ]);
    expect(await response.json()).toEqual({
      error: { message: "Too often.", type: "rate_limit_error", param: null, code: "rate_limited" },
    });
  });

  test("says how many requests are left, and when there are more", async () => {
    await using world = worldWith({});
    const { headers } = await world.postJson("/v1/chat/completions", {});
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("9");
    expect(headers.get("x-ratelimit-reset-requests")).toBe("2s");
  });

  test.each([
    ["budget_spent", 429, "insufficient_quota"],
    ["provider_limited", 429, "rate_limit_error"],
    ["invalid_params", 400, "invalid_request_error"],
    ["forbidden", 403, "permission_error"],
    ["stopping", 503, "server_error"],
    ["internal", 500, "server_error"],
    ["cancelled", 500, "server_error"],
  ] as const)("that fails with %s has the status %d and the type %s", async (code, status, type) => {
    await using world = worldWith({ answer: () => Promise.reject(new GatewayError(code, "for a test")) });
    const response = await world.postJson("/v1/chat/completions", {});
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type, code } });
  });

  test("that takes its time begins its stream after five seconds, and tells a later failure in it", async () => {
    const ended = deferred<Completion>();
    await using world = worldWith({ read: () => ({ ...REQUEST, stream: true }), answer: () => ended.promise });
    const asked = world.postJson("/v1/chat/completions", {});
    await waitFor("the timer of the first words", () => world.clock.pending() > 0);
    await world.clock.advance(5_000);
    const response = await asked;
    expect(response.status).toBe(200);
    ended.reject(new GatewayError("provider_silent", "for a test"));
    const [first, last] = (await response.text()).split("\n\n");
    expect(first).toContain('"role":"assistant"');
    expect(last).toContain('"code":"provider_silent"');
  });

  test("that fails before its first words has a status, streamed as well, and leaves no timer behind", async () => {
    await using world = worldWith({
      read: () => ({ ...REQUEST, stream: true }),
      answer: () => Promise.reject(new GatewayError("provider_silent", "for a test")),
    });
    expect((await world.postJson("/v1/chat/completions", {})).status).toBe(504);
    expect(world.clock.pending()).toBe(0);
  });

  test("that was streamed leaves no timer behind", async () => {
    await using world = worldWith({ read: () => ({ ...REQUEST, stream: true }) });
    const text = await (await world.postJson("/v1/chat/completions", {})).text();
    expect(text).toContain('"content":"hello"');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    await waitFor("no timer", () => world.clock.pending() === 0);
  });
});

describe("a path below /v1", () => {
  test("that is not there, or is asked by a stranger, is refused in the form of OpenAI", async () => {
    await using world = worldWith({});
    const unknown = await world.call("/v1/embeddings");
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { type: "invalid_request_error", code: "not_found" } });
    const stranger = await fetch(world.url("/v1/models"));
    expect(stranger.status).toBe(401);
    expect(await stranger.json()).toMatchObject({ error: { type: "authentication_error", param: null } });
  });
});
