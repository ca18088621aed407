import { describe, expect, test } from "bun:test";
import { isGatewayError } from "../../contracts/errors.ts";
import { compactionContent } from "./compaction-item.ts";
import { joined, saidOf, turnOf, type KnownItem } from "./conversation.ts";
import { readResponseRequest } from "./request.ts";

const OPTIONS = {
  isAgent: (id: string) => id === "research",
  isTaken: (name: string) => name === "cron",
  digest: () => "d",
};
const read = (body: object, header: string | null = null) =>
  readResponseRequest({ model: "pi-gateway", input: "hi", ...body }, header, OPTIONS);

function paramOf(body: object): unknown {
  try {
    read(body);
  } catch (error) {
    return isGatewayError(error) ? error.fields["param"] : error;
  }
  return "taken";
}

const WEATHER = { type: "function", name: "get_weather", parameters: { type: "object" } };

describe("the request for a response", () => {
  test("without anything but input says everything else about itself", () => {
    expect(read({}).settings).toEqual({
      model: "pi-gateway",
      previous_response_id: null,
      instructions: null,
      tools: [],
      tool_choice: "auto",
      truncation: "disabled",
      parallel_tool_calls: true,
      text: { format: { type: "text" } },
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      temperature: 1,
      reasoning: { effort: null, summary: null },
      max_output_tokens: null,
      max_tool_calls: null,
      store: true,
      background: false,
      service_tier: "default",
      metadata: {},
      safety_identifier: null,
      prompt_cache_key: null,
      user: null,
    });
  });

  test("is repeated in the response where an agent takes it, and where its own settings decide", () => {
    const given = {
      instructions: "Be brief.",
      temperature: 0.2,
      top_p: 0.5,
      max_output_tokens: 50,
      parallel_tool_calls: false,
      store: false,
      metadata: { room: "kitchen" },
      prompt_cache_key: "k",
      safety_identifier: "s",
      truncation: "auto",
      reasoning: { effort: "low" },
    };
    expect(read(given).settings).toMatchObject({ ...given, reasoning: { effort: "low", summary: null } });
    expect(read({ tools: [WEATHER] }).settings.tools).toEqual([{ ...WEATHER, description: null, strict: null }]);
  });

  test.each<[unknown, object]>([
    ["conversation", { conversation: "c1" }],
    ["prompt", { prompt: { id: "p1" } }],
    ["max_tool_calls", { max_tool_calls: 3 }],
    ["top_logprobs", { top_logprobs: 2 }],
    ["include", { include: ["message.output_text.logprobs"] }],
    ["text.format", { text: { format: { type: "json_object" } } }],
    ["background", { background: true, store: false }],
    ["tool_choice", { tools: [WEATHER], tool_choice: "required" }],
    ["tool_choice", { tools: [WEATHER], tool_choice: { type: "function", name: "get_weather" } }],
    ["tools[0].type", { tools: [{ type: "web_search" }] }],
    ["tools[0].name", { tools: [{ type: "function", name: "cron" }] }],
    ["max_output_tokens", { max_output_tokens: 1 }],
    ["metadata", { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])) }],
    ["metadata.k", { metadata: { k: "v".repeat(513) } }],
    ["truncation", { truncation: "some" }],
    ["model", { model: "gpt-9" }],
    ["input[0].type", { input: [{ type: "computer_call" }] }],
    ["input[0].role", { input: [{ role: "critic", content: "no" }] }],
    ["input[0].content[0].file_id", { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }],
    ["input[0].encrypted_content", { input: [{ type: "compaction", encrypted_content: "made elsewhere" }] }],
    ["previous_response_id", { user: "ada", previous_response_id: "resp_1" }],
  ])("is refused for %j, which is named: %j", (param, body) => {
    expect(paramOf(body)).toBe(param);
  });

  test("offers only the tools that are allowed, and names all of them", () => {
    const choice = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "get_weather" }] };
    const { tools, settings } = read({ tools: [WEATHER, { type: "function", name: "other" }], tool_choice: choice });
    expect(tools.map(({ name }) => name)).toEqual(["get_weather"]);
    expect([settings.tools.length, settings.tool_choice]).toEqual([2, choice]);
    expect(read({ tools: [WEATHER], tool_choice: "none" }).tools).toEqual([]);
  });

  test("names an agent by its model, and a session by its user or header", () => {
    expect(read({ model: "pi-gateway/research" }).agent).toBe("research");
    expect([read({ user: "ada" }).session, read({}, "notes").session]).toEqual(["openai-ada", "notes"]);
  });
});

describe("items of the input", () => {
  const items = (input: unknown) => read({ input }).input as readonly KnownItem[];
  const turn = (input: unknown, earlier: readonly KnownItem[] = []) =>
    turnOf(read({ tools: [WEATHER] }), joined(saidOf(earlier), saidOf(items(input))));

  test("are messages with text, images and files, calls, results, references and what stands for a conversation", () => {
    expect(
      items([
        { role: "developer", content: "Be brief." },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "https://a.example/a.png" },
            { type: "input_file", filename: "a.txt", file_data: "aGk=" },
          ],
        },
        { type: "message", role: "assistant", phase: "commentary", content: [{ type: "output_text", text: "well" }] },
        { type: "function_call", call_id: "c1", name: "get_weather", arguments: '{"city":"Oslo"}' },
        { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "mild" }] },
        { type: "reasoning", summary: [] },
        { id: "msg_1_0" },
        { type: "compaction", encrypted_content: compactionContent("Ada likes tea.") },
      ]),
    ).toEqual([
      { kind: "system", text: "Be brief." },
      {
        kind: "user",
        text: "look",
        images: ["https://a.example/a.png"],
        files: [{ name: "a.txt", url: "data:application/octet-stream;base64,aGk=" }],
      },
      { kind: "assistant", text: "well" },
      { kind: "call", callId: "c1", tool: "get_weather", input: { city: "Oslo" } },
      { kind: "result", callId: "c1", text: "mild" },
      { kind: "reference", id: "msg_1_0", param: "input[6]" } as never,
      { kind: "user", text: "What was said before this, in short:\n\nAda likes tea.", images: [], files: [] },
    ]);
  });

  test("are one answer where words and calls follow each other, and results belong to their calls", () => {
    const earlier: readonly KnownItem[] = [
      { kind: "user", text: "weather?", images: [], files: [] },
      { kind: "assistant", text: "Let me look." },
      { kind: "call", callId: "c1", tool: "get_weather", input: {} },
      { kind: "call", callId: "c2", tool: "get_weather", input: {} },
    ];
    const { history, prompt } = turn(
      ["c2", "c1"].map((call_id) => ({ type: "function_call_output", call_id, output: `of ${call_id}` })),
      earlier,
    );
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(history[1]).toMatchObject({ text: "Let me look.", calls: [{ callId: "c1" }, { callId: "c2" }] });
    expect(prompt.results).toEqual([
      { callId: "c2", tool: "get_weather", text: "of c2" },
      { callId: "c1", tool: "get_weather", text: "of c1" },
    ]);
  });

  test("are refused when a call has no result, a result no call, or nothing is to be answered", () => {
    const call = { type: "function_call", call_id: "c1", name: "get_weather", arguments: "{}" };
    expect(() => turn([{ role: "user", content: "a" }, call, { role: "user", content: "b" }])).toThrow("no result for");
    expect(() => turn([{ type: "function_call_output", call_id: "c9", output: "x" }])).toThrow("made no such call");
    expect(() => turn([{ role: "assistant", content: "all said" }])).toThrow("ends with an answer");
    expect(() => turn([])).toThrow("is empty");
  });
});
