/** Tools as each provider API receives them: the whole schema, whatever form of request pi writes. Real gateway, real pi, loopback. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Where each API has the name and the schema of its tools. */
const APIS = {
  "anthropic-messages": (body: Body) => body.tools.map((tool) => [tool["name"], tool["input_schema"]]),
  "openai-completions": (body: Body) =>
    body.tools.map(({ function: tool }) => [fieldsOf(tool)["name"], fieldsOf(tool)["parameters"]]),
  "openai-responses": (body: Body) => body.tools.map((tool) => [tool["name"], tool["parameters"]]),
  "google-generative-ai": (body: Body) =>
    body.tools
      .flatMap(({ functionDeclarations }) => functionDeclarations as Fields[])
      .map((tool) => [tool["name"], tool["parametersJsonSchema"]]),
} as const;

type Fields = Readonly<Record<string, unknown>>;
interface Body {
  readonly tools: readonly Fields[];
}

const fieldsOf = (value: unknown): Fields => value as Fields;
const apis = Object.keys(APIS) as (keyof typeof APIS)[];
const requests = new Map<string, Body>();
let gateway: GatewayProcess;

/** Keeps what it is asked and refuses it; the first path segment says which API is spoken. */
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const api = new URL(request.url).pathname.split("/")[1] ?? "";
    if (!requests.has(api)) requests.set(api, (await request.json()) as Body);
    return Response.json({ error: { message: "enough" } }, { status: 400 });
  },
});

beforeAll(async () => {
  const providers = apis.map((api) => [
    api,
    {
      api,
      baseUrl: `http://127.0.0.1:${provider.port}/${api}`,
      apiKey: "a-key-of-the-test",
      models: [{ id: "m" }],
    },
  ]);
  gateway = await startGatewayProcess({
    config: {
      agent: { pool: { min: 0, max: 1 } },
      agents: apis.map((api) => ({ id: api, model: `${api}/m` })),
      models: { providers: Object.fromEntries(providers) },
    },
  });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider.stop(true);
});

test.each(apis)("%s gets every tool with its properties and required names", async (api) => {
  await gateway.chat("hello", { agent: api, session: `agent:${api}:api:dm:wire` });
  const body = requests.get(api);
  const tools = new Map(body ? (APIS[api](body) as [string, Fields][]) : []);
  expect([...tools.keys()]).toContain("create_reminder");
  expect(tools.get("send_message")).toMatchObject({
    type: "object",
    properties: { text: { type: "string" }, parseMode: expect.anything() },
    required: ["text"],
  });
});
