/** The bridge between the gateway's tools and real agents: one named test for each thing it was accepted for. Real gateway, real pi. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { exportedSpecs } from "../src/cli/bridge-export.ts";
import { extensionText } from "../src/cli/extension-text.ts";
import { deferred } from "../src/kit/deferred.ts";
import { SANDBOX_TO_LOOK_INTO } from "../src/testing/confined-pid.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { echoTool, pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { agentPids, endpoint, eventually, post, textOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const ROOT = join(import.meta.dir, "..");
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PLUGINS = { enabled: ["probe"] };
const PROBE = `${echoTool("probe_echo", "text")}
  api.registerTool({
    name: "probe_picture",
    description: "Gives words and a picture. For tests.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    flags: { idempotent: true },
    execute: async () => ({ content: [{ type: "text", text: "a dot" }, { type: "image", data: "${PICTURE}", mimeType: "image/png" }], details: { dots: 1 } }),
  });
  let asked = 0;
  api.registerTool({
    name: "probe_asking",
    description: "Asks the owner, then counts. For tests.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    flags: { idempotent: true },
    approval: true,
    execute: async () => ({ content: [{ type: "text", text: "allowed " + ++asked }] }),
  });`;

const calls = (name: string, input: Record<string, unknown> = {}): FakeReply => ({
  kind: "tools",
  calls: [{ name, input }],
});
const lastResult = (request: ProviderRequest): string =>
  textOf(request.messages.findLast(({ role }) => role === "tool")?.content);
const once =
  (name: string, input: Record<string, unknown>) =>
  (request: ProviderRequest): FakeReply =>
    request.messages.at(-1)?.role === "user" && lastResult(request) === "" ? calls(name, input) : says("done");

let script: (request: ProviderRequest) => FakeReply = () => says("ok");
let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

/** No spare processes: what a restart or a change of the bridge replaces, only who speaks needs again. */
function configWith(bridge: string) {
  const { agent, models } = endpoint(provider);
  const seeing = { ...models.providers.fake, models: [{ id: "fake-1", input: ["text", "image"] }] };
  const agents = [{ id: "second", systemPrompt: "You are another one." }];
  const own = { ...agent, sandbox: SANDBOX_TO_LOOK_INTO, bridge, pool: { min: 0, max: 2 } };
  return { agent: own, agents, models: { providers: { fake: seeing } }, plugins: PLUGINS };
}

beforeAll(async () => {
  provider = await startFakeProvider((request) => script(request));
  home = await tempHome();
  gateway = await startGatewayProcess({ home: home.path, config: configWith("live") });
  await putPlugin(gateway.home, { id: "probe", body: PROBE });
  await eventually(
    "the plugin probe runs",
    async () => (await pluginsOf(gateway)).get("probe")?.state,
    (state) => state === "running",
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** A turn that stays open until it is let go. */
async function openTurn(session: string): Promise<{ readonly token: string; close(): Promise<void> }> {
  const hold = deferred<void>();
  const before = provider.requests.length;
  script = () => says("…", hold.promise, "done");
  const answer = gateway.chat("wait", { session });
  await provider.arrived(before + 1);
  const busy = agentPids(gateway.home).map((pid) => tokenOf(pid));
  for (const token of busy) {
    const seen = await asAgent(token, "/api/tools");
    if (seen.status !== 200) continue;
    const close = async () => {
      hold.resolve();
      await answer;
    };
    return { token, close };
  }
  throw new Error("no agent process has a token that works");
}

function tokenOf(pid: number): string {
  const line = readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .find((one) => one.startsWith("PI_GATEWAY_INTERNAL_TOKEN="));
  return line?.slice("PI_GATEWAY_INTERNAL_TOKEN=".length) ?? "";
}

function asAgent(token: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
}

describe("the bridge", () => {
  test("AC-1: a tool that a plugin registers is there for every agent by itself", async () => {
    script = () => says("ok");
    for (const agent of ["default", "second"]) {
      await post(gateway, { text: `tools of ${agent}`, agent });
      expect(provider.requests.at(-1)?.tools).toEqual(expect.arrayContaining(["probe_echo", "probe_picture"]));
    }
  });

  test("AC-2: an agent calls a gateway tool and gets a structured result, pictures included", async () => {
    script = once("probe_picture", {});
    const { body } = await gateway.chat("show me", { session: "ac2" });
    expect(body.tool_calls).toMatchObject([{ tool: "probe_picture", status: "success" }]);
    const request = provider.requests.at(-1);
    expect(lastResult(request as ProviderRequest)).toContain("a dot");
    expect(JSON.stringify(request?.body)).toContain(PICTURE);
  });

  test("AC-3: a call that does not fit the schema is refused by the gateway, in a turn and without the agent", async () => {
    script = once("probe_echo", { wrong: 1 });
    const { body } = await gateway.chat("try", { session: "ac3" });
    expect(lastResult(provider.requests.at(-1) as ProviderRequest)).toContain("text: is missing; it must be text");
    expect(body.content).toBe("done");
    const { token, close } = await openTurn("ac3");
    const refused = await asAgent(token, "/api/tools/call", { tool: "probe_echo", params: { wrong: 1 } });
    expect(await refused.json()).toMatchObject({ ok: false, error: { code: "invalid_params" } });
    await close();
  });

  test("AC-4: the built-in tools come by the same way as everybody's", async () => {
    const { tools } = (await (await gateway.fetch("/api/tools")).json()) as {
      tools: { name: string; plugin: string }[];
    };
    const owners = new Map(tools.map(({ name, plugin }) => [name, plugin]));
    expect(owners.get("probe_echo")).toBe("probe");
    const own = ["session_status", "send_message", "send_media"];
    expect(own.map((name) => owners.get(name))).toEqual(own.map(() => "gateway"));
    await writeFile(join(gateway.home, "workspace", "words.txt"), "words");
    const inputs = { session_status: {}, send_message: { text: "hi" }, send_media: { path: "words.txt" } };
    for (const [name, input] of Object.entries(inputs)) {
      script = once(name, input);
      const { body } = await gateway.chat("go", { session: `ac4-${name.replace("_", "-")}` });
      expect(body.tool_calls).toMatchObject([{ tool: name, status: "success" }]);
    }
  });

  test("AC-5: pi is the published package, and the bridge uses nothing of it but what it exports", async () => {
    const pinned = (await Bun.file(join(ROOT, "package.json")).json()) as { dependencies: Record<string, string> };
    const name = "@earendil-works/pi-coding-agent";
    const installed = (await Bun.file(join(ROOT, "node_modules", name, "package.json")).json()) as { version: string };
    expect(installed.version).toBe(pinned.dependencies[name] ?? "");
    const bridge = await Bun.file(join(ROOT, "dist", "bridge.js")).text();
    const imports = new Bun.Transpiler({ loader: "js" }).scanImports(bridge).map(({ path }) => path);
    expect(imports.filter((path) => !isBuiltin(path) && !/^@earendil-works\/[a-z-]+$/.test(path))).toEqual([]);
  });

  test("AC-6: a restart, even a violent one, gives the agents the same set again", async () => {
    script = () => says("ok");
    const seen: (readonly string[] | undefined)[] = [];
    const look = async () => {
      await gateway.chat("which tools?", { session: "ac6" });
      seen.push(provider.requests.at(-1)?.tools);
    };
    await look();
    await gateway.kill();
    gateway = await startGatewayProcess({ home: home.path, config: configWith("live") });
    await look();
    expect(seen[0]).toEqual(expect.arrayContaining(["session_status", "probe_echo", "probe_picture"]));
    expect(seen[1]).toEqual(seen[0]);
  });

  test("AC-7: going back to a smaller bridge, to none, and forth again loses nothing of a conversation", async () => {
    script = () => says("ok");
    const offered: number[] = [];
    for (const bridge of ["live", "minimal", "off", "live"]) {
      await writeFile(join(home.path, "pi-gateway.jsonc"), JSON.stringify(configWith(bridge)), { mode: 0o600 });
      await gateway.fetch("/api/config/reload", { method: "POST" });
      await gateway.chat(`with ${bridge}`, { session: "ac7" });
      offered.push(provider.requests.at(-1)?.tools.length ?? -1);
    }
    expect(offered.map((count) => count > 0)).toEqual([true, true, false, true]);
    const asked = provider.requests
      .at(-1)
      ?.messages.filter(({ role }) => role === "user")
      .map(({ content }) => textOf(content));
    expect(asked?.map((text) => /with (\w+)/.exec(text)?.[1])).toEqual(["live", "minimal", "off", "live"]);
    expect((await transcript(gateway, "ac7")).length).toBe(8);
  });
});

describe("a script inside an agent", () => {
  test("calls tools for the conversation its agent is in, and for no other, and only while it is", async () => {
    const { token, close } = await openTurn("script");
    const answer = await asAgent(token, "/api/tools/call", {
      tool: "probe_echo",
      params: { text: "hi" },
      callId: "c1",
    });
    expect(await answer.json()).toMatchObject({
      ok: true,
      callId: "c1",
      result: { content: [{ type: "text", text: "echo of hi" }] },
    });
    for (const extra of [{ pid: 1 }, { sessionKey: "agent:default:api:dm:operator" }]) {
      const body = { tool: "probe_echo", params: { text: "hi" }, ...extra };
      expect((await asAgent(token, "/api/tools/call", body)).status).toBe(400);
    }
    expect((await asAgent(token, "/api/status")).status).toBe(403);
    expect((await asAgent(token, "/api/chat", { text: "hi" })).status).toBe(403);
    await close();
    const rows = (await transcript(gateway, "script")).filter(({ role }) => role === "tool");
    expect(rows.map(({ tool, status }) => [tool, status])).toEqual([
      ["probe_echo", "success"],
      ["probe_echo", "error"], // it named a process
      ["probe_echo", "error"], // it named a session
    ]);
    await eventually(
      "the process to be given back, a moment after the reply",
      async () => (await asAgent(token, "/api/tools")).status,
      (status) => status === 403,
    );
  });

  test("has a token of its own process, which is written nowhere and dies with it", async () => {
    const { token, close } = await openTurn("script");
    const [pid] = agentPids(gateway.home).filter((one) => tokenOf(one) === token);
    expect(pid).toBeDefined();
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(token);
    expect(filesBelow(gateway.home).filter((file) => contentOf(file).includes(token))).toEqual([]);
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain(`PI_GATEWAY_URL=${gateway.url}`);
    process.kill(pid ?? 0, "SIGKILL");
    await eventually(
      "the token of the ended process is refused",
      async () => (await asAgent(token, "/api/tools")).status,
      (status) => status === 401,
    );
    script = () => says("done");
    await close();
  });
});

describe("pi-gw bridge export", () => {
  test("writes an extension that a pi of one's own loads, and whose tools work", async () => {
    await using place = await tempHome();
    const out = join(place.path, "mine");
    const made = Bun.spawn(
      [
        process.execPath,
        "--no-env-file",
        join(ROOT, "dist", "main.js"),
        "bridge",
        "export",
        "--home",
        gateway.home,
        "--out",
        out,
        "--json",
      ],
      { stdout: "pipe", stderr: "inherit", env: { PATH: process.env.PATH ?? "" } },
    );
    const { file, tools } = JSON.parse(await new Response(made.stdout).text()) as { file: string; tools: string[] };
    expect(await made.exited).toBe(0);
    expect(tools).toEqual(expect.arrayContaining(["list_tasks", "probe_echo"]));
    expect([(await stat(out)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readFileSync(file, "utf8")).not.toContain(gateway.token);

    script = () => says("ok");
    await runOwnPi(place.path, file);
    expect(provider.requests.at(-1)?.tools).toEqual(expect.arrayContaining(tools));

    const { token, close } = await openTurn("export");
    process.env["PI_GATEWAY_TOKEN"] = token;
    try {
      const { default: extension } = (await import(file)) as { default(pi: object): void };
      const registered: { name: string; execute(...call: unknown[]): Promise<{ content: unknown }> }[] = [];
      extension({ registerTool: (tool: (typeof registered)[number]) => registered.push(tool) });
      const tool = registered.find(({ name }) => name === "probe_echo");
      const result = await tool?.execute("c1", { text: "from outside" }, undefined, undefined);
      expect(result?.content).toEqual([{ type: "text", text: "echo of from outside" }]);
      expect(await tool?.execute("c2", { wrong: 1 }, undefined, undefined).catch(String)).toContain("not valid");
    } finally {
      delete process.env["PI_GATEWAY_TOKEN"];
      await close();
    }
  });
});

describe("an exported extension in a pi of one's own", () => {
  test("works with a model of the Responses API, whose call ids have a bar in them", async () => {
    await using place = await tempHome();
    const answer = await gateway.fetch("/api/tools?callable=true");
    const file = join(place.path, "exported.js");
    await writeFile(file, extensionText(exportedSpecs((await answer.json()) as Record<string, unknown>), gateway.url));
    await using model = responsesModel({ name: "probe_echo", arguments: { text: "by responses" } });
    const env = { PI_GATEWAY_TOKEN: gateway.token };
    await runOwnPi(place.path, file, { baseUrl: model.baseUrl, api: "openai-responses", env });
    const [first, second] = model.requests;
    expect(JSON.stringify(first?.["tools"])).toContain("probe_echo");
    const input = second?.["input"] as Record<string, unknown>[];
    expect(input.find(({ type }) => type === "function_call")).toMatchObject({ id: "fc_b", call_id: "call_a" });
    expect(input.find(({ type }) => type === "function_call_output")).toMatchObject({
      call_id: "call_a",
      output: expect.stringContaining("echo of by responses"),
    });
  });
});

/** Calls one tool, then says a word; keeps what it was asked. */
function responsesModel(call: { readonly name: string; readonly arguments: object }) {
  const requests: Record<string, unknown>[] = [];
  const called = { type: "function_call", id: "fc_b", call_id: "call_a", name: call.name };
  const said = { type: "message", id: "msg_1", role: "assistant" };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const round = requests.push((await request.json()) as Record<string, unknown>);
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const words = [{ type: "output_text", text: "done", annotations: [] }];
      const [begun, whole] =
        round === 1
          ? [
              { ...called, arguments: "" },
              { ...called, arguments: JSON.stringify(call.arguments) },
            ]
          : [
              { ...said, content: [] },
              { ...said, status: "completed", content: words },
            ];
      const events = [
        { type: "response.created", response: { id: `resp_${round}` } },
        { type: "response.output_item.added", output_index: 0, item: begun },
        { type: "response.output_item.done", output_index: 0, item: whole },
        { type: "response.completed", response: { id: `resp_${round}`, status: "completed", output: [whole], usage } },
      ];
      const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    requests,
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** The tools of an exported extension, as pi has them, with the operator's token. */
async function exportedTools(): Promise<ReadonlyMap<string, ExportedTool>> {
  const answer = await gateway.fetch("/api/tools?callable=true");
  const file = join(home.path, "exported.js");
  await writeFile(file, extensionText(exportedSpecs((await answer.json()) as Record<string, unknown>), gateway.url));
  const { default: extension } = (await import(file)) as { default(pi: object): void };
  const registered = new Map<string, ExportedTool>();
  extension({ registerTool: (tool: ExportedTool) => registered.set(tool.name, tool) });
  return registered;
}

interface ExportedTool {
  readonly name: string;
  readonly parameters: object;
  execute(callId: string, params: object, signal?: AbortSignal): Promise<{ readonly content: unknown }>;
}

describe("a tool of an exported extension", () => {
  beforeAll(() => void (process.env["PI_GATEWAY_TOKEN"] = gateway.token));
  afterAll(() => void delete process.env["PI_GATEWAY_TOKEN"]);

  test("works with any call id, and a repeated id is another call", async () => {
    const add = (await exportedTools()).get("add_task");
    const results = [];
    for (const id of ["call_a|fc_b", "call_a|fc_b", ""]) results.push(await add?.execute(id, { title: "again" }));
    expect(new Set(results.map((result) => JSON.stringify(result?.content))).size).toBe(3);
  });

  test("waits for the owner's approval and has the result of that call", async () => {
    const asking = (await exportedTools()).get("probe_asking");
    const result = asking?.execute("c", {});
    const { items } = await eventually(
      "the open approval",
      async () => (await (await gateway.fetch("/api/approvals")).json()) as { items: { id: string }[] },
      (seen) => seen.items.length > 0,
    );
    const body = JSON.stringify({ decision: "once" });
    const headers = { "content-type": "application/json" };
    await gateway.fetch(`/api/approvals/${items[0]?.id}`, { method: "POST", headers, body });
    expect((await result)?.content).toEqual([{ type: "text", text: "allowed 1" }]);
  });

  test("is there only if it can work outside of a conversation, and reports errors as envelopes", async () => {
    const tools = await exportedTools();
    expect(["send_message", "send_media", "message", "session_status"].filter((name) => tools.has(name))).toEqual([]);
    expect([...tools.keys()]).toEqual(expect.arrayContaining(["save_note", "list_tasks", "probe_echo"]));
    const said = await tools.get("probe_echo")?.execute("c", { text: null }).catch(String);
    expect(said).toContain('{"status":"error","tool":"probe_echo"');
    const parameters = JSON.parse(JSON.stringify(tools.get("probe_echo")?.parameters)) as object;
    expect([Object.keys(tools.get("probe_echo")?.parameters ?? { none: 1 }), parameters]).toMatchObject([
      [],
      { type: "object" },
    ]);
  });
});

/** One prompt in a pi that has nothing to do with the gateway, with the extension loaded. */
async function runOwnPi(
  home: string,
  extension: string,
  { baseUrl, api, env }: { readonly baseUrl: string; readonly api: string; readonly env?: Record<string, string> } = {
    baseUrl: provider.baseUrl,
    api: "openai-completions",
  },
): Promise<void> {
  const agentDir = join(home, "pi");
  await mkdir(agentDir);
  const model = {
    id: "fake-1",
    name: "Fake",
    reasoning: false,
    input: ["text"],
    contextWindow: 32_000,
    maxTokens: 4_096,
  };
  const fake = { baseUrl, api, apiKey: "none", models: [model] };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { fake } }));
  const entry = Bun.fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent/rpc-entry"));
  const { PATH = "", BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } = process.env;
  const pi = Bun.spawn(
    [
      process.execPath,
      "--no-env-file",
      entry,
      "--offline",
      "--no-session",
      "--no-builtin-tools",
      "--model",
      "fake/fake-1",
      "-e",
      extension,
    ],
    {
      cwd: home,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      env: {
        PATH,
        HOME: home,
        PI_CODING_AGENT_DIR: agentDir,
        ...env,
        ...(cache ? { BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } : {}),
      },
    },
  );
  pi.stdin.write(`${JSON.stringify({ id: "1", type: "prompt", message: "hello" })}\n`);
  void pi.stdin.flush();
  let said = "";
  for await (const chunk of pi.stdout) {
    said += new TextDecoder().decode(chunk);
    if (said.includes('"agent_settled"')) break;
  }
  void pi.stdin.end();
  await pi.exited;
}

/** Nothing, of a file that was moved meanwhile: a session is given back when its turn is over. */
function contentOf(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
