/**
 * 537 tools of real MCP servers under the names their authors gave them, brought by a plugin into a whole gateway: each is offered to a real
 * agent and called by it, and called over HTTP. One that cannot be registered says why in a sentence that names it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { goodValue } from "../src/testing/tools/schema-values.ts";
import { createChance } from "../src/testing/chance.ts";
import { type CorpusTool, serverOf, toolCorpus } from "../src/testing/tools/tool-corpus.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import type { ToolListing } from "../src/contracts/tools/tool.ts";
import { createSchemaCompiler } from "../src/tools/schema/compile.ts";
import { emptyRequired } from "../src/tools/schema/values/required-text.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { endpoint, eventually, statusOf, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const BATCH = 60;
const ROUNDS = 24;
/** Its schema requires a value of an empty list, so that no call can be right. */
const NEVER_FITS = "netlify-coding-rules";

/** Registers one tool after the other, as a client of MCP servers would, and keeps what it was told about those that were not taken. */
const PLUGIN = `
  const refused = [];
  api.registerRoute({ method: "GET", path: "/refused", handle: () => refused });
  api.registerService({ name: "servers", async start() {
    const { tools } = JSON.parse(await Bun.file(new URL("./tools.json", import.meta.url)).text());
    tools.push({ name: "what is this?", parameters: { type: "object" } });
    for (const { name, parameters } of tools) {
      const execute = async () => ({ content: [{ type: "text", text: "called " + name }] });
      try {
        api.registerTool({ name, description: "A tool.", parameters, flags: { idempotent: true }, execute });
      } catch (error) {
        refused.push({ name, say: error.say });
      }
    }
  } });`;

/** As zod writes it: what has a default is required all the same. */
const DEFAULTED = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer", default: 5 },
    more: { type: "object", properties: { deep: { default: true } } },
  },
  required: ["text", "count"],
  additionalProperties: false,
};
const SHOWS = `
  api.registerTool({ name: "showParams", description: "Shows.", parameters: ${JSON.stringify(DEFAULTED)},
    flags: { idempotent: true }, execute: async (_id, params) => ({ content: [{ type: "text", text: JSON.stringify(params) }] }) });`;

const corpus = await toolCorpus();
const compile = createSchemaCompiler();

/** The first of two servers that use one name has it. */
const firstOf = (tool: CorpusTool): boolean => corpus.find(({ name }) => name === tool.name) === tool;
const PI_HAS = ["find"];
const accepted = corpus.filter((tool) => firstOf(tool) && !PI_HAS.includes(tool.name));

/** Parameters that fit, by chance that can be had again. */
function inputOf(tool: CorpusTool): Record<string, unknown> {
  const chance = createChance(20_261_115, `${serverOf(tool)} ${tool.name}`);
  const schema = compile(tool.inputSchema);
  for (let round = 0; round < ROUNDS; round++) {
    const value = goodValue(tool.inputSchema, chance) as Record<string, unknown>;
    if (schema.kind !== "ok") return {};
    if (schema.check(value).ok && emptyRequired(schema.schema, value).length === 0) return value;
  }
  return {};
}

const calls = accepted.map((tool) => ({ name: tool.name, input: inputOf(tool) }));

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  const batches = Array.from({ length: Math.ceil(calls.length / BATCH) }, (_, at) =>
    calls.slice(at * BATCH, (at + 1) * BATCH),
  );
  provider = await startFakeProvider((request, index): FakeReply => {
    if (JSON.stringify(request.messages).includes("leave out")) {
      const done = request.messages.some(({ role }) => role === "tool");
      return done
        ? says("left out")
        : { kind: "tools", calls: [{ name: "showParams", input: { text: "x", more: {} } }] };
    }
    const batch = batches[index];
    return batch && request.tools.length > 0 ? { kind: "tools", calls: batch } : says("all called");
  });
  home = await tempHome();
  const tools = corpus.map(({ name, inputSchema }) => ({ name, parameters: inputSchema }));
  await putPlugin(home.path, {
    id: "servers",
    body: PLUGIN + SHOWS,
    files: { "tools.json": JSON.stringify({ tools }) },
  });
  const { agent, models } = endpoint(provider);
  const plugins = { enabled: ["servers"] };
  const all = { searchAbove: 1_000 }; // none of them has to be searched for
  const config = { models, agent: { ...agent, pool: { min: 0, max: 1 } }, plugins, tools: all };
  gateway = await startGatewayProcess({ home: home.path, config });
  await eventually(
    "the plugin servers runs",
    async () => (await pluginsOf(gateway)).get("servers")?.state,
    (state) => state === "running",
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** Not one of theirs: a name that no provider takes, to be seen where an owner looks. */
const BAD_NAME = "what is this?";

const listed = async (): Promise<readonly ToolListing[]> => {
  const { tools } = (await (await gateway.fetch("/api/tools")).json()) as { tools: ToolListing[] };
  return tools.filter(({ plugin, name }) => plugin === "servers" && name !== BAD_NAME && name !== "showParams");
};

test("every tool of a real MCP server is registered under its own name, or its plugin is told why in a sentence that names it", async () => {
  const tools = await listed();
  const refused = (await (await gateway.fetch("/plugins/servers/refused")).json()) as { name: string; say: string }[];
  expect(tools.filter(({ status }) => status !== "ok").map(({ name, reason }) => [name, reason])).toEqual([]);
  expect(tools.map(({ name }) => name)).toEqual(accepted.map(({ name }) => name));
  expect(refused.map(({ name }) => name)).toEqual(
    corpus.filter((tool) => !accepted.includes(tool)).map(({ name }) => name),
  );
  expect(refused.filter(({ name, say }) => !say?.includes(name))).toEqual([]);
});

test("a quarantined tool and one that is checked in part are in the plugin's status, in the gateway's notices and in its log", async () => {
  const notices = (await pluginsOf(gateway)).get("servers")?.toolNotices ?? [];
  const [first, ...others] = notices;
  expect([first, others.at(-1)]).toMatchObject([
    { tool: "send_email", quarantined: false },
    { tool: BAD_NAME, quarantined: true },
  ]);
  expect(first?.say).toContain("looks ahead or behind). It is not checked.");
  expect((await statusOf(gateway)).notices).toContain(
    `Plugin servers has quarantined tools: ${BAD_NAME}. pi-gw tools list says why.`,
  );
  expect(gateway.stdout() + gateway.stderr()).toContain("tool quarantined");
});

test("a real agent is offered every one of them with its schema as it is, and each of its calls runs", async () => {
  const { body } = await gateway.chat("call everything");
  expect(body.content).toBe("all called");
  const offered = provider.requests[0]?.body["tools"] as { function: { name: string; parameters: unknown } }[];
  const given = new Map(offered.map(({ function: { name, parameters } }) => [name, parameters]));
  const changed = accepted.filter(({ name, inputSchema }) => !Bun.deepEquals(given.get(name), inputSchema));
  expect(changed.map(({ name }) => name)).toEqual([]);
  const results = (provider.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
  const said = results.map(({ content }) => textOf(content));
  const unlike = accepted.filter(({ name }, at) => said[at] !== `called ${name}`);
  expect(unlike.map(({ name }) => name)).toEqual([NEVER_FITS]);
  expect(said[accepted.findIndex(({ name }) => name === NEVER_FITS)]).toContain("creationType");
});

test("each of them is called over HTTP under the same name", async () => {
  const answers = await Promise.all(
    calls.map(async ({ name, input }) => {
      const body = JSON.stringify({ tool: name, params: input });
      const headers = { "content-type": "application/json" };
      const response = await gateway.fetch("/api/tools/call", { method: "POST", headers, body });
      const { result, error } = (await response.json()) as {
        result?: { content: [{ text: string }] };
        error?: { message: string };
      };
      return { name, said: result?.content[0].text ?? error?.message };
    }),
  );
  expect(answers.filter(({ name, said }) => said !== `called ${name}`).map(({ name }) => name)).toEqual([NEVER_FITS]);
});

test("a parameter with a default that a model leaves out is filled in, also when the schema requires it", async () => {
  const { body } = await gateway.chat("leave out what you can", { session: "defaults" });
  expect(body.content).toBe("left out");
  const result = provider.requests.at(-1)?.messages.findLast(({ role }) => role === "tool");
  expect(JSON.parse(textOf(result?.content))).toEqual({ text: "x", count: 5, more: { deep: true } });
});
