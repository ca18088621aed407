/**
 * 923 tools in a whole gateway with real pi: a request carries the built-in ones and `tool_search`, what it finds is called in the same turn
 * and is still there after kill -9, and a conversation goes on when its tool is gone.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createGatewayClient } from "../src/client/client.ts";
import type { ListedTool } from "../src/contracts/tools/tool.ts";
import {
  type FakeProvider,
  type FakeReply,
  type FakeScript,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { MANY_TOOLS, MANY_TOOLS_PLUGIN, putManyTools, RARE_TOOL } from "../src/testing/tools/many-tools.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { runnableHere } from "../src/testing/whole/without-wall.ts";
import { pluginsOf } from "./plugins-fixture.ts";
import { endpoint, eventually, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAX_REQUEST_CHARS = 60_000;

const calls = (name: string, input: Record<string, unknown>): FakeReply => ({
  kind: "tools",
  calls: [{ name, input }],
});

/** Searches for the rare tool and calls it, where it is asked to; otherwise says so. */
const script: FakeScript = ({ messages, tools }) => {
  const last = messages.at(-1);
  const asked = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  if (last?.role === "user") {
    if (asked.includes("have it done")) return calls("delegate_to_agent", { agent: "helper", task: "look for it" });
    if (asked.includes("look for it")) return calls("tool_search", { query: "raise the periscope" });
    if (asked.includes("call it")) return calls(RARE_TOOL, { metres: 2 });
    return says("nothing to do");
  }
  const said = textOf(last?.content);
  if (said.includes('"tools":') && tools.includes(RARE_TOOL)) return calls(RARE_TOOL, { metres: 3 });
  return says(`it said: ${said.slice(0, 300)}`);
};

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;
const configOf = (plugins: Readonly<Record<string, unknown>>) => {
  const { agent, models } = endpoint(provider);
  const agents = [{ id: "helper", description: "helps" }];
  return { models, agent: { ...agent, delegates: ["helper"], pool: { min: 0, max: 2 } }, agents, plugins };
};
const running = () =>
  eventually(
    "the plugin with many tools runs",
    async () => (await pluginsOf(gateway)).get(MANY_TOOLS_PLUGIN)?.state,
    (state) => state === "running",
  );

beforeAll(async () => {
  provider = await startFakeProvider(script);
  home = await tempHome();
  await putManyTools(home.path);
  gateway = await startGatewayProcess({ home: home.path, config: configOf({ enabled: [MANY_TOOLS_PLUGIN] }) });
  await running();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const newest = () => provider.requests.slice(-1)[0];

test("a model that searches gets the tool with its next request, at the end of the list, and calls it in the same turn", async () => {
  const { body } = await gateway.chat("look for it", { session: "sea" });
  expect(body.content).toBe(`it said: ${RARE_TOOL} got {"metres":3}`);
  expect(body.tool_calls?.map(({ tool, status }) => [tool, status])).toEqual([
    ["tool_search", "success"],
    [RARE_TOOL, "success"],
  ]);
  const [first, second] = provider.requests;
  expect(first?.tools).toContain("tool_search");
  expect(first?.tools).not.toContain(RARE_TOOL);
  expect(second?.tools.slice(0, first?.tools.length)).toEqual([...(first?.tools ?? [])]);
  expect(second?.tools).toContain(RARE_TOOL);
  expect(second?.messages[0]).toEqual(first?.messages[0] as never); // instructions name no tools, so that they stay cached
  for (const request of provider.requests) expect(JSON.stringify(request.body).length).toBeLessThan(MAX_REQUEST_CHARS);
});

test("another conversation does not have the tool, and a model that names it there is told to search", async () => {
  const { body } = await gateway.chat("call it", { session: "land" });
  expect(body.content).toContain(`${RARE_TOOL} is not switched on in this conversation. Call tool_search`);
});

test("an agent that another one asks, and a job, search and call in the same way", async () => {
  const { body } = await gateway.chat("have it done", { session: "air" });
  expect(body.content).toContain(`${RARE_TOOL} got`);
  const client = createGatewayClient({ url: gateway.url, token: gateway.token });
  const job = {
    id: "dive",
    task: "look for it",
    schedule: { kind: "every", expr: "30d" },
    delivery: "silent",
  } as const;
  await client.request("POST /api/cron/jobs", { body: job });
  await client.request("POST /api/cron/jobs/:id/run", { path: { id: "dive" } });
  const query = { tool: RARE_TOOL, status: "success" } as const;
  const origins = async () =>
    (await client.request("GET /api/tool-calls", { query })).items.map(({ origin }) => origin);
  await eventually("the call of the job", origins, (rows) => rows.includes("cron"));
  expect(await origins()).toEqual(["cron", "delegate", "chat"]);
});

test("the list of tools says which are behind the search", async () => {
  const { tools } = (await (await gateway.fetch("/api/tools")).json()) as { tools: readonly ListedTool[] };
  const behind = tools.filter(({ behindSearch }) => behindSearch.length > 0);
  expect(behind).toHaveLength(MANY_TOOLS);
  expect(behind.filter(({ plugin }) => plugin === "gateway")).toEqual([]);
});

test("the tool is still there after the gateway was killed and started again", async () => {
  await gateway.kill();
  gateway = await startGatewayProcess({ home: home.path });
  await running();
  const { body } = await gateway.chat("call it", { session: "sea" });
  expect(body.content).toBe(`it said: ${RARE_TOOL} got {"metres":2}`);
  expect(newest()?.tools.length).toBeLessThan(30);
});

test("a conversation whose tool is gone goes on", async () => {
  const config = await runnableHere(home.path, configOf({ enabled: [] }));
  await saveSettings(home.path, config);
  const names = async () => {
    const { tools } = (await (await gateway.fetch("/api/tools")).json()) as { tools: readonly ListedTool[] };
    return tools.map(({ name }) => name);
  };
  await eventually("the end of the tool", names, (seen) => !seen.includes(RARE_TOOL)); // a plugin that stops has tools until it has ended
  const { body } = await gateway.chat("what now", { session: "sea" });
  expect(body.content).toBe("nothing to do");
  expect(newest()?.tools).not.toContain(RARE_TOOL);
  expect(newest()?.tools).not.toContain("tool_search");
  expect(JSON.stringify(newest()?.messages)).toContain(RARE_TOOL); // what was said stays
});
