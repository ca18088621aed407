/** Tools of a program that uses the OpenAI-compatible door: called by the model, run by the program, also when the gateway is killed in between. */
import { describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { type FakeReply, inOrder, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { ask, clientOf, failure, MODEL, textIn, useOpenAiWorld } from "./openai-fixture.ts";
import { endpoint, transcript } from "./whole-fixture.ts";

type ApiError = InstanceType<typeof OpenAI.APIError>;

const world = useOpenAiWorld();

const WEATHER: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city. Says degrees.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const calls = (...cities: readonly string[]): FakeReply => ({
  kind: "tools",
  calls: cities.map((city) => ({ name: "get_weather", input: { city } })),
});

type Messages = OpenAI.ChatCompletionMessageParam[];

function resultsFor(message: OpenAI.ChatCompletionMessage | undefined): Messages {
  return (message?.tool_calls ?? []).map(({ id }, at) => ({
    role: "tool",
    tool_call_id: id,
    content: `${20 + at} degrees`,
  }));
}

describe("a tool of the program", () => {
  test("that the model calls ends the run, and its result goes on in the next request", async () => {
    world().play(inOrder(calls("Oslo"), says("It has 20 degrees.")));
    const { client } = world();
    const messages: Messages = ask("weather in Oslo?");
    const first = await client.chat.completions.create({ model: MODEL, messages, tools: [WEATHER] });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.content).toBeNull();
    expect(choice?.message.tool_calls).toMatchObject([
      { type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
    ]);
    expect(world().asked()).toHaveLength(1);
    expect(world().asked()[0]?.tools).toContain("get_weather");
    const next = [...messages, ...(choice ? [choice.message] : []), ...resultsFor(choice?.message)];
    const second = await client.chat.completions.create({ model: MODEL, messages: next, tools: [WEATHER] });
    expect(second.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "It has 20 degrees." },
    });
    const heard =
      world()
        .asked()[1]
        ?.messages.filter(({ role }) => role !== "system" && role !== "developer") ?? [];
    expect(heard.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(textIn(heard.at(-1)?.content)).toBe("20 degrees");
  });

  test("is streamed as fragments that the SDK puts together", async () => {
    world().play(() => calls("Oslo", "Rome"));
    const stream = world().client.chat.completions.stream({
      model: MODEL,
      messages: ask("weather?"),
      tools: [WEATHER],
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.finish_reason).toBe("tool_calls");
    const called = completion.choices[0]?.message.tool_calls?.map((call) => call.type === "function" && call.function);
    expect(called).toMatchObject([{ arguments: '{"city":"Oslo"}' }, { arguments: '{"city":"Rome"}' }]);
  });

  test("works with the runner of the SDK, which calls functions until there is an answer", async () => {
    world().play(inOrder(calls("Oslo"), says("done")));
    const runner = world().client.chat.completions.runTools({
      model: MODEL,
      messages: ask("weather in Oslo?"),
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "weather",
            parameters: { type: "object", properties: { city: { type: "string" } } },
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `cold in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("done");
    expect(JSON.stringify(world().asked()[1]?.messages)).toContain("cold in Oslo");
  });

  test("in a session goes on in the session, with the result as text of somebody else", async () => {
    world().play(inOrder(calls("Oslo"), says("It is mild."), says("As I said: mild.")));
    const { client, gateway } = world();
    const asking = { model: MODEL, user: "tools", tools: [WEATHER] };
    const first = await client.chat.completions.create({ ...asking, messages: ask("weather in Oslo?") });
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    const results = resultsFor(first.choices[0]?.message);
    const second = await client.chat.completions.create({ ...asking, messages: results });
    expect(second.choices[0]?.message.content).toBe("It is mild.");
    expect(JSON.stringify(world().asked()[1]?.messages)).toContain("20 degrees");
    const third = await client.chat.completions.create({ ...asking, messages: ask("and now?") });
    expect(third.choices[0]?.message.content).toBe("As I said: mild.");
    const shown = (await transcript(gateway, "openai-tools")).map(({ role, text }) => [role, text]);
    expect(shown).toContainEqual(["assistant", "It is mild."]);
  });

  test("is not offered when tool_choice is none, and not to the request after it", async () => {
    const { client } = world();
    await client.chat.completions.create({ model: MODEL, messages: ask("a"), tools: [WEATHER], tool_choice: "none" });
    await client.chat.completions.create({ model: MODEL, messages: ask("b"), tools: [WEATHER] });
    await client.chat.completions.create({ model: MODEL, messages: ask("c") });
    expect(
      world()
        .asked()
        .map(({ tools }) => tools.includes("get_weather")),
    ).toEqual([false, true, false]);
  });

  test("that has to be called is refused, and so is one with the name of a tool of the gateway", async () => {
    const { client } = world();
    const wrong = [
      { tools: [WEATHER], tool_choice: "required" },
      { tools: [WEATHER], tool_choice: { type: "function", function: { name: "get_weather" } } },
      { tools: [{ type: "function", function: { name: "session_status" } }] },
      { tools: [{ type: "function", function: { name: "bash" } }] },
      { tools: [{ type: "function", function: { name: "no spaces" } }] },
    ];
    const params: unknown[] = [];
    for (const more of wrong) {
      const body = { model: MODEL, messages: ask("hi"), ...more } as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const refused = await failure(client.chat.completions.create(body));
      params.push((refused as ApiError).param);
      expect((refused as ApiError).status).toBe(400);
    }
    expect(params).toEqual([
      "tool_choice",
      "tool_choice",
      "tools[0].function.name",
      "tools[0].function.name",
      "tools[0].function.name",
    ]);
    expect(world().asked()).toEqual([]);
  });

  test("beside a tool of the gateway is called first, and the gateway's own is shown as metadata only", async () => {
    const both: FakeReply = {
      kind: "tools",
      calls: [
        { name: "session_status", input: {} },
        { name: "get_weather", input: { city: "Oslo" } },
      ],
    };
    const own: FakeReply = { kind: "tools", calls: [{ name: "session_status", input: {} }] };
    world().play(inOrder(both, own, says("all known")));
    const { client } = world();
    const messages: Messages = ask("weather and status?");
    const first = await client.chat.completions.create({ model: MODEL, messages, tools: [WEATHER] });
    expect(first.choices[0]?.message.tool_calls).toHaveLength(1);
    const said = first.choices[0]?.message;
    const next = [...messages, ...(said ? [said] : []), ...resultsFor(said)];
    const second = await client.chat.completions.create({ model: MODEL, messages: next, tools: [WEATHER] });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "all known" } });
    expect(second.choices[0]?.message.tool_calls).toBeUndefined();
    expect(second).toMatchObject({ pi_gateway: { tool_calls: [{ tool: "session_status", status: "success" }] } });
  });
});

describe("a gateway that is killed between a call and its result", () => {
  test("goes on with a response, from its id and the result alone", async () => {
    await using provider = await startFakeProvider(inOrder(calls("Oslo"), says("mild")));
    await using home = await tempHome();
    const config = endpoint(provider);
    const { name, description = "", parameters = {} } = WEATHER.function;
    const tools = [{ type: "function", name, description, parameters, strict: true } as const];
    let first: OpenAI.Responses.Response;
    {
      await using gateway = await startGatewayProcess({ home: home.path, config });
      first = await clientOf(gateway).responses.create({ model: MODEL, input: "weather in Oslo?", tools });
      await gateway.kill();
    }
    const [call] = first.output;
    const call_id = call?.type === "function_call" ? call.call_id : "";
    await using gateway = await startGatewayProcess({ home: home.path, config });
    const second = await clientOf(gateway).responses.create({
      model: MODEL,
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id, output: "20 degrees" }],
    });
    expect(second.output_text).toBe("mild");
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("20 degrees");
    expect(provider.requests).toHaveLength(2);
  });

  test.each(["a conversation of its own", "a session"])("goes on with %s", async (kind) => {
    await using provider = await startFakeProvider(inOrder(calls("Oslo"), says("mild")));
    await using home = await tempHome();
    const config = endpoint(provider);
    const inSession = kind === "a session";
    const asking = { model: MODEL, tools: [WEATHER], ...(inSession ? { user: "killed" } : {}) };
    const messages: Messages = ask("weather in Oslo?");
    let said: OpenAI.ChatCompletionMessage | undefined;
    {
      await using gateway = await startGatewayProcess({ home: home.path, config });
      const first = await clientOf(gateway).chat.completions.create({ ...asking, messages });
      said = first.choices[0]?.message;
      await gateway.kill();
    }
    await using gateway = await startGatewayProcess({ home: home.path, config });
    const next = [...(inSession ? [] : messages), ...(said ? [said] : []), ...resultsFor(said)];
    const second = await clientOf(gateway).chat.completions.create({ ...asking, messages: next });
    expect(second.choices[0]?.message.content).toBe("mild");
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("20 degrees");
    expect(provider.requests).toHaveLength(2);
  });
});
