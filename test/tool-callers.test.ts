/**
 * Every way to call a tool, driven as its real callers drive it, against every stage of the gate: the pipe of an agent process, pi's own
 * tools, the port with the operator's token and with an agent's, the socket, MCP clients, and a command in a chat. A way that goes past a stage fails here.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AgentProcess } from "../src/agents/process/process.ts";
import { createToolPipe } from "../src/agents/talk/tool-pipe.ts";
import { createCommandRegistry, createLastStats } from "../src/commands/index.ts";
import { toolCommand } from "../src/commands/tool-command.ts";
import type { ClientTool } from "../src/contracts/client-request.ts";
import type { Principal, TurnId } from "../src/contracts/ids.ts";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import type { ToolContext, ToolPath } from "../src/contracts/tools/tool.ts";
import { type FakeProvider, says as speaks, startFakeProvider } from "../src/testing/fake-provider.ts";
import { startHttpWorld } from "../src/testing/http/http-fixture.ts";
import { type McpRevision, mcpClient, testMcpDoor } from "../src/testing/http/test-mcp-door.ts";
import { createSeqIds } from "../src/testing/seq-ids.ts";
import { openWs } from "../src/testing/http/ws-client.ts";
import { inbound } from "../src/testing/messages.ts";
import { OWNER, policy, says, tool, toolWorld } from "../src/testing/tools/tool-world.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { STAGES } from "../src/tools/stages/stages.ts";
import { asked, endpoint, eventually, openSocket, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";
import { waitFor } from "../src/testing/wait-for.ts";

setDefaultTimeout(WHOLE_TEST_MS);

type World = ReturnType<typeof toolWorld>;

interface Way {
  readonly path: ToolPath;
  readonly principal: string;
  /** The tool is one of the program that asks over the OpenAI-compatible API: the gate does everything but run it. */
  readonly client?: true;
  /** Opens the way on a gate; what it gives makes one call of `write`, and resolves with what its caller reads. */
  open(world: World): Promise<AsyncDisposable & { call(params: unknown, callId: string): Promise<string> }>;
}

const never = new AbortController().signal;
const AGENTS_OWN = "the-token-of-a-process";

const PARAMETERS = { type: "object", properties: { file_path: { type: "string" } }, additionalProperties: false };
const PROGRAMS_OWN: ClientTool = { name: "write", description: "Writes a file.", parameters: PARAMETERS };

const WAYS: Readonly<Record<string, Way>> = {
  "the pipe of an agent": { path: "pipe", principal: "operator", open: (world) => pipeOf(world, "tool_call") },
  "the pipe of an agent, for a tool of a program": {
    path: "pipe",
    principal: "operator",
    client: true,
    open: (world) => pipeOf(world, "tool_call", { ...OWNER, clientTools: [PROGRAMS_OWN] }),
  },
  "pi, for its own tools": { path: "pi", principal: "operator", open: (world) => pipeOf(world, "tool_admit") },
  "the port": { path: "http", principal: "operator", open: (world) => portOf(world, {}) },
  "the port, by a script of an agent": {
    path: "http",
    principal: "web:user:ada",
    open: (world) => portOf(world, { authorization: `Bearer ${AGENTS_OWN}` }),
  },
  "the socket": { path: "socket", principal: "operator", open: socketOf },
  "a command in a chat": { path: "command", principal: "web:user:ada", open: commandOf },
  "an MCP client": { path: "mcp", principal: "operator", open: (world) => mcpClientOf(world, "2026-07-28") },
  "an older MCP client": { path: "mcp", principal: "operator", open: (world) => mcpClientOf(world, "2025-11-25") },
};

async function pipeOf({ gate, clock, log }: World, title: "tool_call" | "tool_admit", caller: ToolContext = OWNER) {
  const answers = new Map<string, (value: string) => void>();
  let ask: Parameters<AgentProcess["onDialog"]>[0] = () => undefined;
  const nothing = { [Symbol.dispose]: () => undefined };
  const process: AgentProcess = {
    pid: 1,
    identity: null,
    memoryBytes: () => null,
    processorSeconds: () => 0,
    program: () => null,
    family: () => [],
    ended: new Promise(() => undefined),
    onEnded: () => nothing,
    leftRunning: () => [],
    endLeftRunning: async () => [],
    stop: async () => undefined,
    request: async () => ({ ok: true, data: {} }),
    onEvent: () => nothing,
    onNote: () => undefined,
    onExtensionError: () => undefined,
    send: (record) => answers.get(String(record.id))?.(String(record.value)),
    onDialog: (servant) => {
      ask = servant;
    },
  };
  const pipe = createToolPipe({ clock, log, tools: gate }, process, {
    suffix: "s",
    bridge: "live",
    profile: "workspace",
    room: { workspace: import.meta.dir, readable: [], writable: [], asks: [] },
    token: null,
  });
  pipe.serve(caller);
  return {
    call: (params: unknown, callId: string) =>
      new Promise<string>((resolve) => {
        answers.set(callId, resolve);
        const body = JSON.stringify({ tool: "write", callId, params });
        ask({ id: callId, title: `pi-gateway:${title}`, body });
      }),
    [Symbol.asyncDispose]: async () => pipe.serve(null),
  };
}

const ADA: ToolContext = { ...OWNER, principal: "web:user:ada" as Principal };

async function portOf({ gate, list }: World, headers: Record<string, string>) {
  const agentTokens = {
    resolve: (token: string) => (token === AGENTS_OWN ? ADA : null),
    known: (token: string) => token === AGENTS_OWN,
  };
  const http = startHttpWorld({}, { tools: { gate, list, agentTokens } });
  return {
    call: async (params: unknown, callId: string) =>
      (await http.postJson("/api/tools/call", { tool: "write", params, callId }, headers)).text(),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

async function socketOf({ gate, list }: World) {
  const http = startHttpWorld({}, { tools: { gate, list } });
  const socket = await openWs(http);
  return {
    call: (params: unknown, callId: string) =>
      socket.ask("tools.call", { tool: "write", params, callId }).then(
        (result) => JSON.stringify(result),
        (error: unknown) => String(error),
      ),
    async [Symbol.asyncDispose]() {
      socket[Symbol.dispose]();
      await http[Symbol.asyncDispose]();
    },
  };
}

async function mcpClientOf({ gate, list, events }: World, revision: McpRevision) {
  let next = "";
  const ids = { ...createSeqIds(), next: (prefix: string) => `${prefix}-${next}` };
  const approvals = { pending: () => [], decide: async () => "unknown" as const };
  const questions = {
    pending: () => [],
    answer: () => ({ kind: "refused", because: "over", say: "It is over." }) as const,
  };
  const mcp = testMcpDoor({ events, ids, tools: { gate, list, approvals, questions } });
  const http = startHttpWorld({}, { tools: { gate, list, mcp } });
  const client = await mcpClient({ url: http.http.url, revision });
  return {
    async call(params: unknown, callId: string) {
      next = callId;
      const asked = { name: "write", arguments: params as Record<string, unknown> };
      return client.callTool(asked).then(
        (result) => JSON.stringify(result),
        (error: unknown) => String(error),
      );
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await mcp[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
    },
  };
}

async function commandOf({ gate }: World) {
  const commands = createCommandRegistry([toolCommand({ tools: gate, stats: createLastStats() })]);
  return {
    async call(params: unknown, callId: string) {
      const message = inbound(`/tool write ${JSON.stringify(params)}`, {
        sender: { principal: ADA.principal, name: "Ada" },
      });
      const found = commands.find(message);
      if (!found) throw new Error("/tool is no command");
      const { sessionKey, agentId, role } = OWNER;
      const context = { sessionKey, agentId, role, sessionFile: "file", turnId: callId as TurnId, message };
      return commands.answer(found, context, never);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

interface Refusal {
  /** In the row, and to its caller. */
  readonly says: string;
  readonly params?: unknown;
  arrange(world: World): void;
}

/** One way for each stage to say no. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  size: { says: "larger than", params: { filePath: "x".repeat(300_000) }, arrange: () => undefined },
  profile: {
    says: "tools.deny names it",
    arrange: ({ rules }) => void (rules.now = { ...rules.now, deny: ["write"] }),
  },
  names: { says: "the same parameter", params: { filePath: "a", file_path: "b" }, arrange: () => undefined },
  hooks: {
    says: "not on Sundays",
    arrange: ({ hooks }) => void hooks.on("before_tool_call", () => ({ block: "not on Sundays" }), "p"),
  },
  schema: { says: "not valid", params: { file_path: true }, arrange: () => undefined },
  permission: {
    says: "tools.deny names it",
    arrange: ({ hooks, rules }) =>
      void hooks.on("before_tool_call", () => void (rules.now = { ...rules.now, deny: ["write"] }), "p"),
  },
  approval: {
    says: "did not approve it",
    arrange: ({ rules }) => void (rules.now = { ...rules.now, approvals: { ask: ["write"], never: [] } }),
  },
  rate: {
    says: "allows 1 calls",
    arrange: ({ rules }) => void (rules.now = { ...rules.now, limits: { write: { calls: 1, perMs: 600_000 } } }),
  },
  slot: {
    says: "Too many tools are running",
    arrange: ({ rules }) => void (rules.now = { ...rules.now, maxTotal: 0 }),
  },
};
/** pi checks names, schemas and slots of pi tools itself. */
const PIS_OWN = ["names", "schema", "slot"];
/** A program checks what its tool is called with. */
const PROGRAMS_CHECKS = ["schema"];
/** Stages that find a call wrong; the others do not want it. */
const WRONG_CALLS = ["size", "names", "schema"];
const SLOT_WAIT_MS = 60_000;

/** A gate with one tool, which counts its effects; on the way of pi the tool is pi's, and on that of a program the program's. */
function gateWith({ path, client }: Pick<Way, "path" | "client">) {
  const effects: unknown[] = [];
  const write = tool(async (_id, params) => (effects.push(params), says("written")), {
    name: "write",
    parameters: PARAMETERS,
    flags: { idempotent: true },
  });
  const world = toolWorld(path === "pi" || client ? [] : [write]);
  world.rules.now = policy({ profile: () => "workspace" });
  return { ...world, effects };
}

const names = Object.keys(WAYS);
const cases = names.flatMap((name) =>
  STAGES.map((stage) => stage.name)
    .filter((stage) => WAYS[name]?.path !== "pi" || !PIS_OWN.includes(stage))
    .filter((stage) => !WAYS[name]?.client || !PROGRAMS_CHECKS.includes(stage))
    .map((stage) => [name, stage] as const),
);
const wayOf = (name: string): Way => {
  const way = WAYS[name];
  if (!way) throw new Error(`no way called ${name}`);
  return way;
};

describe("the list of ways and stages", () => {
  test("has every path that a row can name, and a refusal of every stage", () => {
    // a line of a reply calls one tool with one parameter: src/flow/ending/media-lines.test.ts takes it through the same gate
    const paths: Readonly<Record<Exclude<ToolPath, "reply">, true>> = {
      pipe: true,
      http: true,
      socket: true,
      command: true,
      pi: true,
      mcp: true,
    };
    expect(new Set(Object.values(WAYS).map(({ path }) => path))).toEqual(new Set(Object.keys(paths) as ToolPath[]));
    expect(Object.keys(REFUSALS)).toEqual(STAGES.map(({ name }) => name));
  });
});

describe("a call", () => {
  test.each(cases)(
    "by %s meets the stage %s: nothing runs, its caller reads why, and a row says so",
    async (by, stage) => {
      const { path, principal, open } = wayOf(by);
      const world = gateWith(wayOf(by));
      await using way = await open(world);
      let hooksAsked = 0;
      world.hooks.on("before_tool_call", () => void hooksAsked++, "watcher");
      const refusal = REFUSALS[stage];
      const params = refusal?.params ?? { file_path: "a" };
      refusal?.arrange(world);
      if (stage === "rate") await way.call(params, "first");
      const before = world.effects.length;
      const timers = world.clock.pending();
      const answer = way.call(params, "second");
      if (stage === "slot") await waitFor("the slot in the line", () => world.clock.pending() > timers);
      if (stage === "slot") await world.clock.advance(SLOT_WAIT_MS);
      const said = await answer;
      expect(world.effects.length).toBe(before);
      if (["size", "profile", "names"].includes(stage)) expect(hooksAsked).toBe(0); // no plugin sees what is refused before
      const row = world.last();
      expect(row?.intent).toMatchObject({ tool: "write", path, principal } as never);
      expect(row?.intent.callId).toEndWith("second");
      const status = WRONG_CALLS.includes(stage) ? "error" : "blocked";
      expect(row?.end).toMatchObject({ status, output: expect.stringContaining(refusal?.says ?? "?") });
      expect(said).toContain(refusal?.says ?? "?");
    },
  );

  test.each(names)("by %s that may be made is made once, and leaves a row with who, where and what", async (by) => {
    const { path, principal, open, client } = wayOf(by);
    const world = gateWith(wayOf(by));
    await using way = await open(world);
    const params = path === "pi" ? { path: "a" } : { file_path: "a" };
    const said = await way.call(params, "one");
    expect(world.rows.map(({ intent: { tool: name, input }, end }) => [name, input, end?.status])).toEqual([
      ["write", params, path === "pi" ? undefined : "success"], // pi tells the end of its own tools later
    ]);
    expect(world.last()?.intent).toMatchObject({ path, principal } as never);
    if (path === "pi") return expect(JSON.parse(said)).toMatchObject({ ok: true });
    if (client) return expect(said).toContain("Tool execution delegated to client");
    expect(said).toContain("written");
    expect(world.effects).toEqual([{ file_path: "a" }]);
  });

  const offered = names.filter((name) => !wayOf(name).client); // a program has the tools that it brings
  test.each(offered)("by %s of a tool that is not there is refused, and leaves a row", async (by) => {
    const { path, open } = wayOf(by);
    const world = toolWorld([]);
    await using way = await open(world);
    await way.call({}, "none");
    const status = path === "pi" ? "blocked" : "error"; // pi has that tool, and the profile does not allow it
    expect(world.rows).toMatchObject([{ intent: { tool: "write", path }, end: { status } }]);
  });
});

describe("in a whole gateway with real pi", () => {
  interface Asked {
    readonly name: string;
    readonly input: Readonly<Record<string, string>>;
  }
  /** Not on the list, not valid, once too often, and one that may be made. */
  const GATEWAY_TOOLS: readonly Asked[] = [
    { name: "search_notes", input: { query: "milk" } },
    { name: "save_note", input: { text: "no such parameter" } },
    { name: "list_tasks", input: {} },
    { name: "add_task", input: { title: "water the plants" } },
  ];
  const PIS_TOOLS: readonly Asked[] = [
    { name: "grep", input: { pattern: "x" } },
    { name: "read", input: { file: "no such parameter" } },
    { name: "ls", input: { path: "." } },
    { name: "write", input: { path: "a.md", content: "words" } },
  ];
  let provider: FakeProvider;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    provider = await startFakeProvider((request) => {
      if (request.messages.at(-1)?.role !== "user") return speaks("that is all");
      const words = asked(request);
      if (words.includes("look around")) return { kind: "tools", calls: [{ name: "ls", input: { path: "." } }] };
      return { kind: "tools", calls: words.includes("your own") ? PIS_TOOLS : GATEWAY_TOOLS };
    });
    const { agent, models } = endpoint(provider);
    const limit = { calls: 1, perMs: "1h" };
    const tools = { deny: ["search_notes", "grep"], limits: { list_tasks: limit, ls: limit } };
    const profile = { ...agent, tools: "workspace", pool: { min: 0, max: 1 } };
    gateway = await startGatewayProcess({ config: { models, agent: profile, tools } });
    await byPort({ name: "list_tasks", input: {} }); // from now on it is once too often, whoever asks
    await gateway.chat("look around");
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  const rows = async () =>
    ((await (await gateway.fetch("/api/tool-calls?limit=200")).json()) as { items: AuditRow[] }).items;
  const byPort = ({ name, input }: Asked) =>
    gateway.fetch("/api/tools/call", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tool: name, params: input }),
    });
  const byOpenAi = (path: string, body: object) =>
    gateway.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "pi-gateway", ...body }),
    });
  const bySocket = async (calls: readonly Asked[]) => {
    const socket = await openSocket(gateway, null);
    for (const { name, input } of calls)
      await socket.request("tools.call", { tool: name, params: input }).catch(() => undefined); // the row tells
    socket.close();
  };

  const callers: Readonly<Record<string, () => Promise<unknown>>> = {
    "a program over the port": async () => {
      for (const one of GATEWAY_TOOLS) await byPort(one);
    },
    "a program over the socket": () => bySocket(GATEWAY_TOOLS),
    "an MCP client": async () => {
      const client = await mcpClient({ url: gateway.url, token: gateway.token, revision: "2026-07-28" });
      for (const { name, input } of GATEWAY_TOOLS) await client.callTool({ name, arguments: { ...input } });
      await client.close();
    },
    "the agent that a chat over the API has": () => gateway.chat("use the gateway's tools", { session: "model" }),
    "the agent that a chat completion has": () =>
      byOpenAi("/v1/chat/completions", { messages: [{ role: "user", content: "use the gateway's tools" }] }),
    "the agent that a response has": () => byOpenAi("/v1/responses", { input: "use the gateway's tools" }),
    "a person with a command": async () => {
      for (const { name, input } of GATEWAY_TOOLS)
        await gateway.chat(`/tool ${name} ${JSON.stringify(input)}`, { session: "person" });
    },
    "pi with tools of its own": () => gateway.chat("use your own tools", { session: "own" }),
  };

  test.each(Object.keys(callers))("%s meets list, schema and limit, and everything is on record", async (name) => {
    const before = new Set((await rows()).map(({ id }) => id));
    await callers[name]?.();
    const made = async () => (await rows()).filter(({ id }) => !before.has(id));
    const seen = await eventually(
      "four calls that have ended",
      made,
      (all) => all.length >= 4 && all.every(({ status }) => status !== "pending"),
    );
    const [list, schema, rate, fine] = name.startsWith("pi ") ? PIS_TOOLS : GATEWAY_TOOLS;
    expect(Object.fromEntries(seen.map(({ tool: called, status }) => [called, status]))).toEqual({
      [list?.name ?? ""]: name.startsWith("the agent") ? "error" : "blocked", // pi itself refuses what it was not offered
      [schema?.name ?? ""]: "error",
      [rate?.name ?? ""]: "blocked",
      [fine?.name ?? ""]: "success",
    });
    expect(seen.length).toBe(4);
    const from = name.startsWith("a program") ? "api" : name.startsWith("an MCP") ? "mcp" : "chat";
    expect(new Set(seen.map(({ origin }) => origin))).toEqual(new Set([from]));
    expect(seen.find(({ tool: called }) => called === rate?.name)?.output).toContain("allows 1 calls in 3600 s");
  });

  test("a person is told what a tool said, without the model, and the reply names the call", async () => {
    const before = provider.requests.length;
    const { body } = await gateway.chat('/tool add_task {"title":"call Ada"}', { session: "person" });
    expect(body.content).toContain('"created":true');
    expect(body.tool_calls).toMatchObject([{ tool: "add_task", status: "success" }]);
    const shown = (await transcript(gateway, "person")).filter(({ turnId }) => turnId === (body.turnId as never));
    expect(shown.map(({ role, tool: called }) => [role, called])).toEqual([
      ["user", undefined],
      ["tool", "add_task"],
      ["assistant", undefined],
    ]);
    expect((await gateway.chat("/tool", { session: "person" })).body.content).toContain("- `add_task`: ");
    expect((await gateway.chat("/tool add_task {title}", { session: "person" })).body.content).toContain("is not JSON");
    expect(provider.requests).toHaveLength(before);
  });
});
