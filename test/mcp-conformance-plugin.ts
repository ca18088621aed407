/** The tools, resources and prompts that the conformance suite of MCP looks for, as a plugin brings them. */
import type { GatewayPluginApi, PluginPrompt, PluginTool, PromptMessage } from "../src/contracts/plugin.ts";
import type { ClientInput, ToolContext, ToolResult } from "../src/contracts/tools/tool.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const NOTHING = { type: "object", properties: {}, additionalProperties: false };
const LONGER_THAN_A_REPORT_MS = 130;

type Fields = Readonly<Record<string, unknown>>;

const says = (text: string): ToolResult => ({ content: [{ type: "text", text }] });
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;
const audio = { type: "audio", data: WAV, mimeType: "audio/wav" } as const;
const document = (uri: string) => ({ type: "resource", uri, mimeType: "text/plain", text: "A document." }) as const;

const form = (message: string, properties: Fields, required = Object.keys(properties)): ClientInput => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, required } },
});
const sample = (text: string): ClientInput => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 },
});
const ROOTS: ClientInput = { method: "roots/list", params: {} };
const TEXT = { type: "string" };

function tool(name: string, run: (context: ToolContext, params: Fields) => Promise<ToolResult>): PluginTool {
  return {
    name,
    description: `For the conformance suite: ${name}.`,
    parameters: NOTHING,
    flags: { idempotent: true },
    execute: (...given) => run(given[4], given[1] as Fields),
  };
}

/** Asks the client, round by round, and says what it answered. */
const asks = (name: string, ...rounds: readonly Readonly<Record<string, ClientInput>>[]): PluginTool =>
  tool(name, async ({ client }) => {
    const answers: unknown[] = [];
    for (const round of rounds) answers.push(await client?.ask(round));
    return says(JSON.stringify(answers));
  });

const withParameter = (made: PluginTool, parameter: string): PluginTool => ({
  ...made,
  parameters: { type: "object", properties: { [parameter]: TEXT }, required: [parameter] },
});

const NAME = { user_name: form("What is your name?", { name: TEXT }) };
const CONFIRM = { confirm: form("Please confirm", { ok: { type: "boolean" } }) };

const CONTENT: readonly PluginTool[] = [
  tool("test_simple_text", async () => says("This is a simple text response for testing.")),
  tool("test_image_content", async () => ({ content: [image] })),
  tool("test_audio_content", async () => ({ ...says("A sound."), media: [audio] })),
  tool("test_embedded_resource", async () => ({ ...says("A document."), media: [document("test://embedded")] })),
  tool("test_multiple_content_types", async () => ({
    content: [{ type: "text", text: "Several kinds." }, image],
    media: [document("test://mixed")],
  })),
  tool("test_error_handling", async () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  tool("test_logging_tool", async () => says("Nothing is logged.")),
  {
    ...tool("test_tool_with_progress", async () => says("done")),
    async execute(_id, _params, _signal, onUpdate) {
      for (const step of ["0", "50", "100"]) {
        onUpdate(says(`Completed step ${step} of 100`));
        await new Promise((resolve) => setTimeout(resolve, LONGER_THAN_A_REPORT_MS)); // reports in between are left out
      }
      return says("done");
    },
  },
];

const ASKING: readonly PluginTool[] = [
  withParameter(asks("test_sampling", { answer: sample("Say something.") }), "prompt"),
  withParameter(asks("test_elicitation", { answer: form("Please answer", { response: TEXT }) }), "message"),
  asks("test_elicitation_sep1034_defaults", {
    form: form(
      "Please review the form",
      {
        name: { type: "string", description: "User name", default: "John Doe" },
        age: { type: "integer", description: "User age", default: 30 },
        score: { type: "number", description: "User score", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
      [],
    ),
  }),
  asks("test_elicitation_sep1330_enums", {
    form: form(
      "Please select options",
      {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
      },
      [],
    ),
  }),
  asks("test_missing_capability", { answer: sample("Say something.") }),
  asks("test_streaming_elicitation", NAME),
  asks("test_input_required_result_elicitation", NAME),
  asks("test_input_required_result_sampling", { capital_question: sample("What is the capital of France?") }),
  asks("test_input_required_result_list_roots", { client_roots: ROOTS }),
  asks("test_input_required_result_request_state", CONFIRM),
  asks("test_input_required_result_tampered_state", CONFIRM),
  asks("test_input_required_result_multiple_inputs", {
    ...NAME,
    greeting: sample("Generate a greeting"),
    client_roots: ROOTS,
  }),
  asks(
    "test_input_required_result_multi_round",
    { step1: form("Step 1: What is your name?", { name: TEXT }) },
    { step2: form("Step 2: What is your favorite color?", { color: TEXT }) },
  ),
  tool("test_input_required_result_capabilities", async ({ client }) => {
    const possible = { ...NAME, greeting: sample("Generate a greeting") };
    const answered = Object.entries(possible).filter(([, { method }]) => client?.answers.includes(method));
    return says(JSON.stringify(await client?.ask(Object.fromEntries(answered))));
  }),
];

function titled(...titles: readonly string[]) {
  return titles.map((title, at) => ({ const: `value${at + 1}`, title }));
}

const user = (content: PromptMessage["content"]): PromptMessage => ({ role: "user", content });
const text = (words: string) => ({ type: "text", text: words }) as const;

const PROMPTS: readonly PluginPrompt[] = [
  {
    name: "test_simple_prompt",
    description: "A prompt without arguments",
    get: () => [user(text("This is a simple prompt for testing."))],
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with two arguments",
    arguments: [
      { name: "arg1", description: "First argument", required: true, values: ["paris", "park", "party"] },
      { name: "arg2", description: "Second argument", required: true },
    ],
    get: ({ arguments: { arg1, arg2 } }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with a document",
    arguments: [{ name: "resourceUri", description: "Address of the document", required: true }],
    get: ({ arguments: { resourceUri = "" } }) => [user(document(resourceUri)), user(text("Please read it."))],
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt with an image",
    get: () => [user(image), user(text("Please look at it."))],
  },
  {
    name: "test_input_required_result_prompt",
    description: "A prompt that asks first",
    async get({ client }) {
      const { user_context } = await client.ask({
        user_context: form("What context should it use?", { context: TEXT }),
      });
      return [user(text(`Prompt with context: ${JSON.stringify(user_context)}`))];
    },
  },
];

const file = (uri: string, name: string) => ({ uri, name, description: `For the conformance suite: ${name}.` });

export function conformancePlugin(api: GatewayPluginApi): void {
  for (const one of [...CONTENT, ...ASKING]) api.registerTool(one);
  api.registerMcp({
    resources: [
      { ...file("test://static-text", "Text"), mimeType: "text/plain", read: () => ({ text: "A static text." }) },
      { ...file("test://static-binary", "Image"), mimeType: "image/png", read: () => ({ base64: PNG }) },
      { ...file("test://watched-resource", "Watched"), mimeType: "text/plain", read: () => ({ text: "Watched." }) },
      {
        ...file("test://template/{id}/data", "Template"),
        mimeType: "application/json",
        read: ({ variables: { id } }) => ({ text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }),
      },
    ],
    prompts: PROMPTS,
  });
  let changes = 0;
  api.registerTool(
    tool("test_trigger_tool_change", async () => {
      api.registerTool(tool(`test_changed_${++changes}`, async () => says("new")));
      return says("The list of tools has changed.");
    }),
  );
  api.registerTool(
    tool("test_trigger_prompt_change", async () => {
      api.registerMcp({ prompts: [{ name: `test_changed_${++changes}`, description: "New", get: () => [] }] });
      return says("The list of prompts has changed.");
    }),
  );
}
