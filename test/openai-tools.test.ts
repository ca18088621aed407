/** Tools of a program that uses the OpenAI-compatible door: called by the model, run by the program, also when the gateway is killed in between. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
  const { name, description = "", parameters = {} } = WEATHER.function;
  const responseTools = [{ type: "function", name, description, parameters, strict: true } as const];
  const asking = { model: MODEL, tools: [WEATHER] };
  /** Of each kind of request one was answered with a call, then the gateway was killed, and another one is there. */
  let story: Awaited<ReturnType<typeof kill>>;
  beforeAll(async () => void (story = await kill()));
  afterAll(() => story?.[Symbol.asyncDispose]());

  async function kill() {
    await using stack = new AsyncDisposableStack();
    const provider = stack.use(
      await startFakeProvider(({ messages }) =>
        JSON.stringify(messages).includes("20 degrees") ? says("mild") : calls("Oslo"),
      ),
    );
    const home = stack.use(await tempHome());
    const config = endpoint(provider);
    await using before = await startGatewayProcess({ home: home.path, config });
    const { responses, chat } = clientOf(before);
    const response = await responses.create({ model: MODEL, input: "weather by a response?", tools: responseTools });
    const alone = await chat.completions.create({ ...asking, messages: ask("weather by itself?") });
    const inSession = await chat.completions.create({
      ...asking,
      user: "killed",
      messages: ask("weather in a session?"),
    });
    await before.kill();
    const after = stack.use(await startGatewayProcess({ home: home.path, config }));
    const kept = stack.move();
    const end = () => kept.disposeAsync();
    return { provider, client: clientOf(after), response, alone, inSession, [Symbol.asyncDispose]: end };
  }

  /** What the model was asked with these words, before the kill and after it. */
  function askedWith(words: string): readonly string[] {
    return story.provider.requests
      .map(({ messages }) => JSON.stringify(messages))
      .filter((messages) => messages.includes(words));
  }

  test("goes on with a response, from its id and the result alone", async () => {
    const [call] = story.response.output;
    const call_id = call?.type === "function_call" ? call.call_id : "";
    const second = await story.client.responses.create({
      model: MODEL,
      tools: responseTools,
      previous_response_id: story.response.id,
      input: [{ type: "function_call_output", call_id, output: "20 degrees" }],
    });
    expect(second.output_text).toBe("mild");
    const heard = askedWith("weather by a response?");
    expect([heard.length, heard.at(-1)?.includes("20 degrees")]).toEqual([2, true]);
  });

  test.each([
    ["a conversation of its own", "alone", "weather by itself?"],
    ["a session", "inSession", "weather in a session?"],
  ] as const)("goes on with %s", async (_what, kind, words) => {
    const said = story[kind].choices[0]?.message;
    const own = kind === "alone" ? ask(words) : [];
    const second = await story.client.chat.completions.create({
      ...asking,
      ...(kind === "alone" ? {} : { user: "killed" }),
      messages: [...own, ...(said ? [said] : []), ...resultsFor(said)],
    });
    expect(second.choices[0]?.message.content).toBe("mild");
    const heard = askedWith(words);
    expect([heard.length, heard.at(-1)?.includes("20 degrees")]).toEqual([2, true]);
  });
});
