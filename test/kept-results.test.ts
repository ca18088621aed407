/**
 * Results that a `tool_result_persist` hook rewrites: whoever called the tool gets the real one, and everything that is kept has the other.
 * Real gateway, real pi; what is kept is looked for in every file of the state directory.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { endpoint, eventually, textOf, told, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** In two halves, so that no file has it but those that it is written into by the gateway. */
const PIN = ["kestrel", "4711"].join("");
const KEPT = "(hidden)";

const PLUGIN = `
  const pin = ["kestrel", "4711"].join("");
  const seen = [];
  const says = (text) => ({ content: [{ type: "text", text }], details: { text } });
  const tool = (name, execute, flags = {}) => api.registerTool({
    name, description: "For tests.", parameters: { type: "object", properties: {} },
    flags: { idempotent: true, ...flags }, timeoutMs: 60000, execute,
  });
  let done;
  const dug = new Promise((resolve) => { done = resolve; });
  tool("ask_pin", async () => says("the pin is " + pin));
  tool("lose_pin", async () => { throw new Error("lost the pin " + pin); });
  tool("dig_pin", async (_id, _params, _signal, onUpdate) => {
    onUpdate(says("digging"));
    await dug;
    return says("dug up the pin " + pin);
  }, { background: true });
  api.registerHook("tool_result_persist", ({ output }) => ({ output: output.replaceAll(pin, "${KEPT}") }));
  api.registerHook("after_tool_call", ({ tool, result, error }) => void seen.push([tool, (result?.content[0].text ?? error).includes(pin)]));
  api.registerRoute({ method: "GET", path: "/seen", handle: () => seen });
  api.registerRoute({ method: "POST", path: "/done", handle: () => { done(); return null; } });`;

const calls = (name: string, input: Record<string, unknown> = {}): FakeReply => ({
  kind: "tools",
  calls: [{ name, input }],
});
const isResult = ({ role }: ProviderRequest["messages"][number]): boolean => role === "tool";
/** Of the running turn, as the model reads them. */
function resultsOf(request: ProviderRequest): readonly string[] {
  const turn = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user"));
  return turn.filter(isResult).map(({ content }) => textOf(content));
}

let script: (request: ProviderRequest) => FakeReply = () => says("ok");
let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

const start = async (): Promise<void> => {
  const { agent, models } = endpoint(provider);
  const config = { models, agent: { ...agent, tools: "workspace" }, plugins: { enabled: ["keeper"] } };
  gateway = await startGatewayProcess({ home: home.path, config });
  await eventually(
    "the plugin runs",
    async () => (await pluginsOf(gateway)).get("keeper")?.state,
    (state) => state === "running",
  );
};

beforeAll(async () => {
  provider = await startFakeProvider((request) => script(request));
  home = await tempHome();
  await putPlugin(home.path, { id: "keeper", body: PLUGIN });
  await start();
  await writeFile(join(home.path, "workspace", "pin.txt"), `in the file is ${PIN}`);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** Calls these tools one after the other, and tells what the model read of each within the turn. */
async function turnWith(session: string, tools: readonly FakeReply[]): Promise<readonly string[]> {
  let read: readonly string[] = [];
  script = (request) => {
    read = resultsOf(request);
    return tools[read.length] ?? says("done");
  };
  await gateway.chat("look", { session });
  script = () => says("ok");
  return read;
}

/** Everything the model reads when the conversation goes on. */
async function readLater(session: string): Promise<string> {
  await gateway.chat("go on", { session });
  return JSON.stringify(provider.requests.at(-1)?.messages);
}

async function filesWithPin(): Promise<readonly string[]> {
  const files = await readdir(home.path, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    const content = file.isFile() ? await readFile(path).catch(() => null) : null; // a session file may go home meanwhile
    if (content?.includes(PIN)) found.push(path.slice(home.path.length + 1));
  }
  return found.filter((path) => path !== join("workspace", "pin.txt"));
}

async function toolCalls(): Promise<string> {
  return (await gateway.fetch("/api/tool-calls?limit=100")).text();
}

test("the model of the running turn reads the real result of every tool; later turns, a restart, transcript and audit log have the rewritten one", async () => {
  const tools = [calls("ask_pin"), calls("lose_pin"), calls("read", { path: "pin.txt" })];
  const read = await turnWith("pin", tools);
  expect(read).toEqual([
    `the pin is ${PIN}`,
    expect.stringContaining(`lost the pin ${PIN}`) as never,
    expect.stringContaining(`in the file is ${PIN}`) as never,
  ]);
  expect(JSON.parse(read[1] ?? "")).toMatchObject({ status: "error", tool: "lose_pin" });

  const words = [`the pin is ${KEPT}`, `lost the pin ${KEPT}`, `in the file is ${KEPT}`];
  const later = await readLater("pin");
  for (const word of words) expect(later).toContain(word);
  expect(later).not.toContain(PIN);
  const kept = [JSON.stringify(await transcript(gateway, "pin")), await toolCalls()];
  for (const page of kept) for (const word of words) expect(page).toContain(word);
  expect(kept.join()).not.toContain(PIN);
  expect(await (await gateway.fetch("/plugins/keeper/seen")).json()).toEqual([
    ["ask_pin", true],
    ["lose_pin", true],
    ["read", true],
  ]);

  await gateway[Symbol.asyncDispose]();
  await start();
  const resumed = await readLater("pin");
  for (const word of words) expect(resumed).toContain(word);
  expect(resumed).not.toContain(PIN);
  expect(await filesWithPin()).toEqual([]);
});

test("a program gets the real result of its call, and the rewritten one when it asks again with the same call id", async () => {
  const call = async (tool: string, callId: string) =>
    (
      await gateway.fetch("/api/tools/call", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ tool, params: {}, callId }),
      })
    ).text();
  expect(await call("ask_pin", "k1")).toContain(PIN);
  expect(await call("lose_pin", "k2")).toContain(PIN);
  // the end of a call is written after its caller was told; until then a repeat is told the same
  await eventually("both calls have ended", toolCalls, (seen) => !seen.includes('"pending"'));
  for (const [tool, id] of [
    ["ask_pin", "k1"],
    ["lose_pin", "k2"],
  ] as const) {
    const again = await call(tool, id);
    expect(again).toContain(KEPT);
    expect(again).not.toContain(PIN);
  }
  expect(await filesWithPin()).toEqual([]);
});

test("the notice about a background tool has the real result for the turn that it wakes, and the rewritten one from then on", async () => {
  script = (request) => (resultsOf(request).length === 0 ? calls("dig_pin") : says("it digs"));
  await gateway.chat("dig", { session: "dig" });
  script = () => says("heard");
  const since = provider.requests.length;
  await gateway.fetch("/plugins/keeper/done", { method: "POST" });
  const heard = await eventually(
    "the end of the background tool reaches the model",
    () =>
      provider.requests
        .slice(since)
        .map(told)
        .find((words) => words.includes("dug up the pin")),
    (words) => words !== undefined,
  );
  expect(heard).toContain(`dug up the pin ${PIN}`);
  expect(heard).not.toContain(KEPT);
  const later = await readLater("dig");
  expect(later).toContain(`dug up the pin ${KEPT}`);
  expect(later).not.toContain(PIN);
  expect(await toolCalls()).toContain(`dug up the pin ${KEPT}`);
  expect(await filesWithPin()).toEqual([]);
});
