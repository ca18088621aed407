/** Call ids as providers write them, in turns of real pi: empty ones, the same for two calls, the same again in the next answer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { asked, endpoint, eventually, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Counts, so that a result that was told before is seen. */
const PLUGIN = `
  let count = 0;
  api.registerTool({ name: "tick", description: "Counts.", flags: { idempotent: true },
    parameters: { type: "object", properties: { n: { type: "integer" } } },
    execute: async (_id, { n }) => ({ content: [{ type: "text", text: n + " was call " + ++count }] }) });`;

/** Per message of a person: the ids of the calls in each answer of the model. */
const scripts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "empty ids": [["", ""]],
  "an empty id beside another": [["", "call_0", ""]],
  "the same id in each answer": [["call_0"], ["call_0"], ["call_0"]],
  "the same id of two parts": [["call_x|fc_y"], ["call_x|fc_y"]],
};

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider((request): FakeReply => {
    const answers = scripts[asked(request)] ?? [];
    const last = request.messages.findLastIndex(({ role }) => role === "user");
    const done = request.messages.slice(last).filter(({ role }) => role === "assistant").length;
    const ids = answers[done];
    return ids ? { kind: "tools", calls: ids.map((id) => ({ name: "tick", input: { n: 7 }, id })) } : says("done");
  });
  home = await tempHome();
  await putPlugin(home.path, { id: "ticks", body: PLUGIN });
  const { agent, models } = endpoint(provider);
  const config = { models, agent: { ...agent, pool: { min: 0, max: 1 } }, plugins: { enabled: ["ticks"] } };
  gateway = await startGatewayProcess({ home: home.path, config });
  await eventually(
    "the plugin ticks runs",
    async () => (await pluginsOf(gateway)).get("ticks")?.state,
    (state) => state === "running",
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

test.each(Object.keys(scripts))("%s: each call runs once and has its own result and row", async (words) => {
  const calls = (scripts[words] ?? []).flat().length;
  const { body } = await gateway.chat(words, { session: words.replaceAll(" ", "-") });
  expect(body.content).toBe("done");
  const results = provider.requests
    .at(-1)
    ?.messages.filter(({ role }) => role === "tool")
    .map(({ content }) => textOf(content));
  expect([results?.length, new Set(results).size]).toEqual([calls, calls]);
  for (const result of results ?? []) expect(result).toMatch(/^7 was call \d+$/);
  expect(body.tool_calls?.map(({ status }) => status)).toEqual(Array.from({ length: calls }, () => "success"));
});
