/** What the OpenAI-compatible door takes, refuses, repeats and stops, seen through the official SDK. */
import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { inOrder, says } from "../src/testing/fake-provider.ts";
import { ask, clientOf, failure, MODEL, useOpenAiWorld } from "./openai-fixture.ts";
import { eventually, keyOf, transcript } from "./whole-fixture.ts";

type ApiError = InstanceType<typeof OpenAI.APIError>;

const world = useOpenAiWorld({ seeing: true });
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

function withImage(url: string, more: Partial<Body> = {}): Body {
  const content = [
    { type: "text" as const, text: "what is this?" },
    { type: "image_url" as const, image_url: { url } },
  ];
  return { model: MODEL, messages: [{ role: "user", content }], ...more };
}

describe("an image of a request", () => {
  test.each([undefined, "pictures"])("reaches the model (user: %s)", async (user) => {
    await world().client.chat.completions.create(withImage(`data:image/png;base64,${DOT}`, user ? { user } : {}));
    expect(JSON.stringify(world().asked()[0]?.messages)).toContain(`data:image/png;base64,${DOT}`);
  });

  test("is refused when it is no image, or its address is not for the gateway to call", async () => {
    const urls = [
      "data:text/plain;base64,aGk=",
      "data:image/png;base64,%%%",
      "http://example.org/a.png",
      "https://127.0.0.1/a.png",
      "https://169.254.169.254/latest/a.png",
      "file:///etc/passwd",
    ];
    for (const url of urls) {
      const refused = await failure(world().client.chat.completions.create(withImage(url)));
      expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    }
    expect(world().asked()).toEqual([]);
  });
});

describe("a request that is not right", () => {
  const wrong: readonly (readonly [string, object, string])[] = [
    ["no messages", { messages: [] }, "messages"],
    ["an answer at its end", { messages: [{ role: "assistant", content: "hi" }] }, "messages"],
    ["an unknown role", { messages: [{ role: "robot", content: "hi" }] }, "messages[0].role"],
    ["a result of no call", { messages: [{ role: "tool", tool_call_id: "x", content: "1" }] }, "messages"],
    ["two answers wanted", { n: 2 }, "n"],
    ["logprobs", { logprobs: true }, "logprobs"],
    ["JSON wanted", { response_format: { type: "json_object" } }, "response_format"],
    ["the old form of tools", { functions: [{ name: "a" }] }, "functions"],
    ["a number as stream", { stream: 1 }, "stream"],
  ];
  test.each(wrong)("(%s) is refused with 400 and the name of the field", async (_what, more, param) => {
    const body = { model: MODEL, messages: ask("hi"), ...more } as Body;
    const refused = (await failure(world().client.chat.completions.create(body))) as ApiError;
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect([refused.param, refused.type]).toEqual([param, "invalid_request_error"]);
    expect(refused.requestID).toStartWith("req_");
    expect(world().asked()).toEqual([]);
  });

  test("names no agent of this gateway, or comes without the token", async () => {
    const { client, gateway } = world();
    const unknown = await failure(client.chat.completions.create({ model: "gpt-9", messages: ask("hi") }));
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
    expect(unknown).toMatchObject({ code: "model_not_found", param: "model" });
    const stranger = clientOf(gateway, { apiKey: "not-the-token" });
    const refused = await failure(stranger.chat.completions.create({ model: MODEL, messages: ask("hi") }));
    expect(refused).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(refused).toMatchObject({ type: "authentication_error", code: "unauthorized" });
  });
});

describe("a key of a program", () => {
  async function keyFor(scopes: readonly string[]): Promise<OpenAI> {
    const { gateway } = world();
    const made = await gateway.fetch("/api/keys", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "program", scopes, agents: ["default"] }),
    });
    return clientOf(gateway, { apiKey: ((await made.json()) as { secret: string }).secret });
  }

  test("with the scope chat asks, with a session of its own and without one", async () => {
    const client = await keyFor(["chat"]);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["pi-gateway", "pi-gateway/default"]);
    for (const user of [undefined, "ada"]) {
      const body: Body = { model: MODEL, messages: ask("hi"), ...(user ? { user } : {}) };
      expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe("ok");
    }
    const foreign = { headers: { "X-Session-Key": keyOf("operator") } };
    const refused = await failure(client.chat.completions.create({ model: MODEL, messages: ask("hi") }, foreign));
    expect(refused).toBeInstanceOf(OpenAI.PermissionDeniedError);
  });

  test("without the scope chat is refused", async () => {
    const client = await keyFor(["read"]);
    const refused = await failure(client.chat.completions.create({ model: MODEL, messages: ask("hi") }));
    expect(refused).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(refused).toMatchObject({ type: "permission_error", code: "forbidden" });
  });
});

describe("a completion that fails", () => {
  test("because of the provider has a status and tells the SDK whether to try again, streamed or not", async () => {
    world().play(() => ({ kind: "status", status: 401, message: "bad key" }));
    const { client } = world();
    for (const stream of [false, true]) {
      const failed = await failure(client.chat.completions.create({ model: MODEL, messages: ask("hi"), stream }));
      expect(failed).toMatchObject({ status: 502, code: "provider_auth", type: "server_error" });
      expect((failed as ApiError).headers?.get("x-should-retry")).toBe("false");
    }
  });

  test("in the middle of a stream ends the stream with the error", async () => {
    world().play(() => says("half ", new Promise(() => undefined)));
    const { client, gateway } = world();
    const body = { model: MODEL, user: "stopped", messages: ask("hi"), stream: true } as const;
    const stream = await client.chat.completions.create(body);
    const words: string[] = [];
    const failed = await failure(
      (async () => {
        for await (const chunk of stream) {
          words.push(chunk.choices[0]?.delta.content ?? "");
          if (words.join("") === "half ")
            await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("openai-stopped"))}/abort`, {
              method: "POST",
            });
        }
      })(),
    );
    expect(words.join("")).toBe("half ");
    expect(failed).toMatchObject({ code: "conflict", message: "The answer was stopped before it was complete." });
  });
});

describe("a client that hangs up", () => {
  test.each([
    ["without a session", undefined],
    ["with a session", "leaving"],
  ])("stops its turn (%s)", async (_kind, user) => {
    world().play(() => says("first words", new Promise(() => undefined)));
    const { client, provider } = world();
    const gone = provider.hungUp.length;
    const body = { model: MODEL, messages: ask("talk for ever"), stream: true, ...(user ? { user } : {}) } as const;
    const stream = await client.chat.completions.create(body);
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break; // leaving the loop closes the connection
    await eventually(
      "the call of the model given up",
      () => provider.hungUp.length,
      (count) => count > gone,
    );
  });
});

describe("an Idempotency-Key", () => {
  test.each([undefined, "keyed"])("gives the same answer again, and refuses another body (user: %s)", async (user) => {
    world().play(inOrder(says("first"), says("second")));
    const { client } = world();
    const body: Body = { model: MODEL, messages: ask("say it once"), ...(user ? { user } : {}) };
    const headers = { "Idempotency-Key": `key-${user ?? "none"}` };
    const both = await Promise.all([1, 2].map(() => client.chat.completions.create(body, { headers })));
    const again = await client.chat.completions.create(body, { headers });
    expect(both[1]).toEqual(both[0] as (typeof both)[0]);
    expect(again).toEqual(both[0] as (typeof both)[0]);
    expect(world().asked()).toHaveLength(1);
    const other = await failure(client.chat.completions.create({ ...body, messages: ask("else") }, { headers }));
    expect(other).toMatchObject({ status: 422, code: "key_reused" });
  });
});

describe("a response", () => {
  test("says how many requests are left, and which request it was", async () => {
    const { response, data } = await world()
      .client.chat.completions.create({ model: MODEL, messages: ask("hi") })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe("ok");
    expect(Number(response.headers.get("x-ratelimit-remaining-requests"))).toBeGreaterThan(0);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("600");
    expect(response.headers.get("x-request-id")).toStartWith("req_");
  });

  test("of a session is in its transcript once, also when two clients ask at the same time", async () => {
    const { client, gateway } = world();
    const body = (text: string): Body => ({ model: MODEL, user: "pair", messages: ask(text) });
    await Promise.all(["one", "two"].map((text) => client.chat.completions.create(body(text))));
    const said = (await transcript(gateway, "openai-pair")).filter(({ role }) => role === "user");
    expect(said.map(({ text }) => text).toSorted()).toEqual(["one", "two"]);
  });
});
