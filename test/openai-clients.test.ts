/**
 * Libraries that programs are written with, against a real gateway with real pi: the official SDK's responses, the Vercel AI SDK and LangChain, each
 * with tools, streaming, errors and hanging up.
 */
import { describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { type FakeReply, inOrder, says } from "../src/testing/fake-provider.ts";
import { failure, MODEL, textIn, useOpenAiWorld } from "./openai-fixture.ts";
import { eventually, keyOf } from "./whole-fixture.ts";

const world = useOpenAiWorld();

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const WEATHER: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city.",
  parameters: CITY,
  strict: true,
};
const calls = (city: string): FakeReply => ({ kind: "tools", calls: [{ name: "get_weather", input: { city } }] });
const FOR_EVER = new Promise(() => undefined);

/** Whoever asked has gone, and the model is no longer asked. */
async function expectGivenUp(leave: () => Promise<unknown>): Promise<void> {
  world().play(() => says("first words", FOR_EVER));
  const { provider } = world();
  const gone = provider.hungUp.length;
  await leave();
  await eventually(
    "the call of the model given up",
    () => provider.hungUp.length,
    (count) => count > gone,
  );
}

const heard = (index: number): string => JSON.stringify(world().asked()[index]?.messages);

describe("the official SDK", () => {
  test("gets a response with every member, and goes on from it", async () => {
    world().play(inOrder(says("Hello Ada."), says("You are Ada.")));
    const { responses } = world().client;
    const first = await responses.create({
      model: MODEL,
      input: "I am Ada.",
      instructions: "Be brief.",
      metadata: { a: "b" },
    });
    expect(first).toMatchObject({
      status: "completed",
      output_text: "Hello Ada.",
      instructions: "Be brief.",
      metadata: { a: "b" },
    });
    expect(first.usage).toMatchObject({ input_tokens: 10, output_tokens: 5, total_tokens: 15 });
    const second = await responses.create({ model: MODEL, input: "Who am I?", previous_response_id: first.id });
    expect(second.output_text).toBe("You are Ada.");
    expect(heard(1)).toContain("Hello Ada.");
    expect(heard(1)).not.toContain("Be brief.");
    expect(await responses.retrieve(second.id)).toMatchObject({ id: second.id, output_text: "You are Ada." });
    await responses.delete(second.id);
    expect(await failure(responses.retrieve(second.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("puts a stream together, with the call of a tool and then its result", async () => {
    world().play(inOrder(calls("Oslo"), says("It is ", "mild.")));
    const { responses } = world().client;
    const first = await responses.stream({ model: MODEL, input: "weather in Oslo?", tools: [WEATHER] }).finalResponse();
    const [call] = first.output;
    expect(call).toMatchObject({ type: "function_call", name: "get_weather", arguments: '{"city":"Oslo"}' });
    const output = {
      type: "function_call_output",
      call_id: call?.type === "function_call" ? call.call_id : "",
      output: "20 degrees",
    } as const;
    const stream = responses.stream({
      model: MODEL,
      input: [output],
      previous_response_id: first.id,
      tools: [WEATHER],
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.slice(0, 5)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
    ]);
    expect((await stream.finalResponse()).output_text).toBe("It is mild.");
    const said =
      world()
        .asked()[1]
        ?.messages.filter(({ role }) => role === "user" || role === "assistant" || role === "tool") ?? [];
    expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(textIn(said.at(-1)?.content)).toBe("20 degrees");
  });

  test("runs a response in the background, polls it and cancels it", async () => {
    world().play(inOrder(says("done"), says("half ", FOR_EVER)));
    const { responses } = world().client;
    const body = { model: MODEL, input: "take your time", background: true } as const;
    const queued = await responses.create(body);
    expect(queued.status).toBe("queued");
    const done = await eventually(
      "the end of the response",
      () => responses.retrieve(queued.id),
      ({ status }) => status === "completed",
    );
    expect(done.output_text).toBe("done");
    const endless = await responses.create(body);
    await eventually(
      "the second question",
      () => world().asked().length,
      (count) => count === 2,
    );
    expect((await responses.cancel(endless.id)).status).toBe("cancelled");
  });

  test("reads errors with their field and code, also in the middle of a stream", async () => {
    world().play(() => ({ kind: "status", status: 401, message: "bad key" }));
    const { responses } = world().client;
    expect(await failure(responses.create({ model: MODEL, input: "hi" }))).toMatchObject({
      status: 502,
      code: "provider_auth",
    });
    expect(await failure(responses.create({ model: "gpt-9", input: "hi" }))).toMatchObject({
      status: 404,
      code: "model_not_found",
    });
    const wrong: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: MODEL,
      input: "hi",
      tools: [WEATHER],
      tool_choice: "required",
    };
    expect(await failure(responses.create(wrong))).toMatchObject({ status: 400, param: "tool_choice" });
    world().play(() => says("half ", FOR_EVER));
    const stream = await responses.create({ model: MODEL, input: "hi", stream: true, user: "stopped-response" });
    const session = `/api/sessions/${encodeURIComponent(keyOf("openai-stopped-response"))}`;
    const stopped = async (): Promise<void> => {
      for await (const { type } of stream)
        if (type === "response.output_text.delta") await world().gateway.fetch(`${session}/abort`, { method: "POST" });
    };
    expect(await failure(stopped())).toMatchObject({ code: "conflict", message: expect.stringContaining("stopped") });
  });

  test("makes a conversation shorter, and goes on from what stands for it", async () => {
    world().play(inOrder(says("Ada likes tea."), says("Tea.")));
    const { responses } = world().client;
    const compacted = await responses.compact({ model: MODEL, input: "I am Ada, and I like tea." });
    const input = [...compacted.output, { role: "user", content: "What do I like?" }] as OpenAI.Responses.ResponseInput;
    expect((await responses.create({ model: MODEL, input })).output_text).toBe("Tea.");
    expect(heard(1)).toContain("Ada likes tea.");
    expect(heard(1)).not.toContain("I am Ada, and I like tea.");
  });

  test("talks over a WebSocket, and goes on there from a response that is not stored", async () => {
    world().play(inOrder(says("Hello Ada."), says("You are Ada.")));
    const socket = new ResponsesWS(world().client);
    const answered = (body: object) =>
      new Promise<OpenAI.Responses.Response>((resolve, reject) => {
        socket.once("response.completed", ({ response }) => resolve(response));
        socket.once("error", reject);
        socket.send({ type: "response.create", model: MODEL, store: false, ...body });
      });
    const first = await answered({ input: "I am Ada." });
    const second = await answered({ input: "Who am I?", previous_response_id: first.id });
    expect(second.output).toMatchObject([{ content: [{ text: "You are Ada." }] }]);
    expect(heard(1)).toContain("Hello Ada.");
    socket.close();
  });

  test("that hangs up stops the turn", async () => {
    await expectGivenUp(async () => {
      const stream = await world().client.responses.create({ model: MODEL, input: "talk for ever", stream: true });
      for await (const { type } of stream) if (type === "response.output_text.delta") break; // leaving the loop closes the connection
    });
  });
});

describe("the Vercel AI SDK", () => {
  const model = (api: "responses" | "chat") => {
    const { gateway } = world();
    return createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token })[api](MODEL);
  };
  const tools = {
    get_weather: tool({
      description: "The weather of a city.",
      inputSchema: jsonSchema<{ city: string }>(CITY),
      execute: async ({ city }) => `20 degrees in ${city}`,
    }),
  };
  const APIS = ["responses", "chat"] as const;

  test.each(APIS)("runs tools until there is an answer (%s)", async (api) => {
    world().play(inOrder(calls("Oslo"), says("It is mild.")));
    const { text, steps } = await generateText({
      model: model(api),
      prompt: "weather in Oslo?",
      tools,
      stopWhen: isStepCount(3),
    });
    expect([text, steps.length]).toEqual(["It is mild.", 2]);
    expect(heard(1)).toContain("20 degrees in Oslo");
  });

  test.each(APIS)("streams words, tools included (%s)", async (api) => {
    world().play(inOrder(calls("Oslo"), says("It ", "is ", "mild.")));
    const stream = streamText({ model: model(api), prompt: "weather in Oslo?", tools, stopWhen: isStepCount(3) });
    const words: string[] = [];
    for await (const piece of stream.textStream) words.push(piece);
    expect(words.join("")).toBe("It is mild.");
    expect(await stream.finishReason).toBe("stop");
    expect((await stream.totalUsage).totalTokens).toBe(30);
  });

  test.each(APIS)("reads errors, and whether to try again (%s)", async (api) => {
    world().play(() => ({ kind: "status", status: 401, message: "bad key" }));
    const failed = await failure(generateText({ model: model(api), prompt: "hi", maxRetries: 0 }));
    expect(APICallError.isInstance(failed)).toBe(true);
    expect(failed).toMatchObject({ statusCode: 502, message: expect.stringContaining("key") });
  });

  test.each(APIS)("that aborts stops the turn (%s)", async (api) => {
    await expectGivenUp(async () => {
      const leaving = new AbortController();
      const stream = streamText({ model: model(api), prompt: "talk for ever", abortSignal: leaving.signal });
      for await (const piece of stream.textStream) if (piece !== "") leaving.abort();
    });
  });
});

describe("LangChain", () => {
  const model = (useResponsesApi: boolean) => {
    const { gateway } = world();
    return new ChatOpenAI({
      model: MODEL,
      apiKey: gateway.token,
      configuration: { baseURL: `${gateway.url}/v1` },
      maxRetries: 0,
      useResponsesApi,
    });
  };
  const weather = {
    type: "function",
    function: { name: "get_weather", description: "The weather of a city.", parameters: CITY },
  };
  const APIS = [
    ["responses", true],
    ["chat", false],
  ] as const;

  test.each(APIS)("calls a tool, and goes on with its result (%s)", async (_api, useResponsesApi) => {
    world().play(inOrder(calls("Oslo"), says("It is mild.")));
    const bound = model(useResponsesApi).bindTools([weather]);
    const question = { role: "user", content: "weather in Oslo?" };
    const first = await bound.invoke([question]);
    expect(first.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Oslo" } }]);
    const [call] = first.tool_calls ?? [];
    const result = new ToolMessage({ content: "20 degrees in Oslo", tool_call_id: call?.id ?? "" });
    const second = await bound.invoke([question, first, result]);
    expect(second.text).toBe("It is mild.");
    expect(heard(1)).toContain("20 degrees in Oslo");
  });

  test.each(APIS)("streams words (%s)", async (_api, useResponsesApi) => {
    world().play(() => says("It ", "is ", "mild."));
    const words: string[] = [];
    for await (const chunk of await model(useResponsesApi).stream("weather?")) words.push(chunk.text);
    expect(words.join("")).toBe("It is mild.");
  });

  test.each(APIS)("reads errors (%s)", async (_api, useResponsesApi) => {
    world().play(() => ({ kind: "status", status: 401, message: "bad key" }));
    expect(await failure(model(useResponsesApi).invoke("hi"))).toMatchObject({ status: 502, code: "provider_auth" });
  });

  test.each(APIS)("that aborts stops the turn (%s)", async (_api, useResponsesApi) => {
    await expectGivenUp(async () => {
      const leaving = new AbortController();
      const stream = await model(useResponsesApi).stream("talk for ever", { signal: leaving.signal });
      const read = async (): Promise<void> => {
        for await (const chunk of stream) if (chunk.text !== "") leaving.abort();
      };
      await failure(read());
    });
  });
});
